package exs_test

import (
	"io"
	"testing"

	"gomx/exs"
)

// stuck is a file that does not answer until it is released.
type stuck struct{ asked, release chan struct{} }

func newStuck() *stuck { return &stuck{make(chan struct{}, 1), make(chan struct{})} }

func (f *stuck) ReadAt([]byte, int64) (int, error) {
	f.asked <- struct{}{}
	<-f.release
	return 0, io.EOF
}

// A SendFile that waits for its file ends with its connection, and so do the sends behind it.
func TestSendFileThatWaits(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		for _, c := range []struct {
			name string
			end  func(p *pair)
			want exs.Errno
		}{
			{"torn down", func(p *pair) { p.ok(p.a.Close(exs.Block|exs.DontLinger, nil, nil)) }, exs.ECONNRESET},
			{"reset", func(p *pair) { p.ok(p.b.Close(exs.Block|exs.DontLinger, nil, nil)) }, exs.ECONNRESET},
			{"not read", func(p *pair) { p.ok(p.b.Shutdown(exs.ShutRD, exs.Block, nil, nil)) }, exs.EPIPE},
			{"taken back", func(p *pair) { p.ok(second(p.a.Cancel(nil, exs.CancelAll))) }, exs.ECANCELED},
			{"with its library", func(p *pair) { p.ok(p.here.Close()) }, exs.ECANCELED},
		} {
			p := w.connect(typ)
			f := newStuck()
			for range 2 {
				_, err := p.a.SendFile([]exs.FileVec{{File: f, Length: -1}}, 0, p.qa, nil)
				w.ok(err)
			}
			p.send(p.a, p.qa, []byte("behind"), 0)
			<-f.asked
			w.within(c.name, func() { c.end(p) })
			var events [3]exs.Event
			if n, err := p.qa.DequeueAtLeast(events[:], 3, bound); n != 3 || err != nil {
				w.Fatalf("%s: %d events, %v", c.name, n, err)
			}
			for _, e := range events {
				if e.Errno != c.want || e.Type != exs.EvtSendFile && e.Type != exs.EvtSend {
					w.Errorf("%s: %v ended with %v, not %v", c.name, e.Type, e.Errno, c.want)
				}
			}
			close(f.release)
		}
	})
}

// What is behind a SendFile that was taken back goes on, and so does what is sent then.
func TestSendFileTakenBack(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		f := newStuck()
		for i, name := range []string{"first", "second", "third"} {
			_, err := p.a.SendFile([]exs.FileVec{{File: f, Length: -1}}, 0, p.qa, name)
			w.ok(err)
			p.send(p.a, p.qa, []byte{byte(i)}, 0)
		}
		<-f.asked
		for _, name := range []string{"second", "first", "third"} {
			if n, err := p.a.Cancel(name, 0); n != 1 || err != nil {
				w.Errorf("%s: %d, %v", name, n, err)
			}
			if e := p.event(p.qa, exs.EvtSendFile, exs.ECANCELED); e.AHandle != name {
				w.Errorf("%v, not %s", e.AHandle, name)
			}
			for range map[string]int{"first": 2, "third": 1}[name] {
				p.event(p.qa, exs.EvtSend, 0)
			}
		}
		close(f.release)
		_, err := p.a.Write([]byte{3})
		w.ok(err)
		var got []byte
		for in := make([]byte, 9); len(got) < 4; {
			n, err := p.b.Read(in)
			w.ok(err)
			got = append(got, in[:n]...)
		}
		w.same(got, []byte{0, 1, 2, 3})
		w.ok(p.a.BlockingClose())
	})
}
