package exs_test

import (
	"io"
	"testing"

	"gomx/exs"
	"gomx/internal/testlength"
)

func TestStream(t *testing.T) {
	testlength.Long(t)
	over(t, streams, func(w *world, typ int) {
		for _, buffer := range []int{exs.DefaultStreamBuf, exs.LeastStreamBuf + 5, 0, 1<<30 - 1, 1 << 30, exs.MaxStreamBuf} {
			p := w.connect(typ, func(s *exs.Socket) {
				_, err := s.Fcntl(exs.SetStreamBufSize, buffer)
				w.ok(err)
			})
			all := pattern(3_000_000, 7)
			go func() {
				for at, n := 0, 1; at < len(all); n = n*3%200_001 + 1 {
					end := min(at+n, len(all))
					if _, err := p.a.Write(all[at:end]); err != nil {
						t.Error(err)
					}
					at = end
				}
				if err := p.a.BlockingClose(); err != nil {
					t.Error(err)
				}
			}()
			var got []byte
			in := make([]byte, 77_777)
			for {
				n, err := p.b.Read(in)
				got = append(got, in[:n]...)
				if err == io.EOF {
					break
				}
				p.ok(err)
			}
			p.same(got, all)
			p.ok(p.b.BlockingClose())
		}
	})
}

func TestWaitAll(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		p := w.connect(typ)
		in, rest := make([]byte, 100_000), make([]byte, 100)
		p.recv(p.b, p.qb, in, exs.WaitAll)
		p.recv(p.b, p.qb, rest, 0)
		all := pattern(100_010, 3)
		for at := 0; at < len(all); at += 25_000 {
			_, err := p.a.Write(all[at:min(at+25_000, len(all))])
			p.ok(err)
		}
		if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != len(in) {
			t.Fatalf("%d bytes", e.Length)
		}
		if e := p.event(p.qb, exs.EvtRecv, 0); e.Length != 10 {
			t.Fatalf("%d bytes", e.Length)
		}
		p.same(append(in, rest[:10]...), all)
	})
}

// TestReceiverIsBusyElsewhere: the program that receives calls nothing while parts of what it waits for
// arrive. Their sender goes on all the same.
func TestReceiverIsBusyElsewhere(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		p := w.connect(typ)
		in, said := make([]byte, 100_000), make([]byte, 1)
		p.recv(p.b, p.qb, in, exs.WaitAll)
		_, err := p.b.Write(said) // behind the news of that receive
		p.ok(err)
		_, err = p.a.Read(said)
		p.ok(err)
		all := pattern(len(in), 4)
		w.within("writes that nobody receives at the moment", func() {
			for at := 0; at < len(all); at += 25_000 {
				_, err := p.a.Write(all[at : at+25_000])
				p.ok(err)
			}
		})
		p.event(p.qb, exs.EvtRecv, 0)
		p.same(in, all)
	})
}
