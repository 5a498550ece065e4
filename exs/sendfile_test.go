package exs_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"gomx/exs"
)

// mute is a file that does not answer until the test is over, beyond the bytes that it has.
type mute struct {
	has     []byte
	answers chan struct{}
	asked   chan struct{} // somebody has asked for more
}

func newMute(t testing.TB, has []byte) *mute {
	m := &mute{has, make(chan struct{}), make(chan struct{}, 1)}
	t.Cleanup(m.answer)
	return m
}

// answer has those who have asked get a byte each.
func (m *mute) answer() {
	select {
	case <-m.answers:
	default:
		close(m.answers)
	}
}

func (m *mute) ReadAt(b []byte, at int64) (int, error) {
	if at < int64(len(m.has)) {
		if n := copy(b, m.has[at:]); n == len(b) {
			return n, nil
		}
		return len(m.has) - int(at), nil
	}
	select {
	case m.asked <- struct{}{}:
	default:
	}
	<-m.answers
	b[0] = 'x'
	return 1, io.EOF
}

// sendsMute starts to send a file that does not answer behind its first bytes, another one, and a word, which wait for it.
func (p *pair) sendsMute(has []byte) *mute {
	p.Helper()
	m := newMute(p, has)
	for _, what := range []string{"file", "next"} {
		_, err := p.a.SendFile([]exs.FileVec{{File: m, Length: -1}}, 0, p.qa, what)
		p.ok(err)
	}
	_, err := p.a.Send([]byte("word"), 0, p.qa, "word", nil)
	p.ok(err)
	if len(has) > 0 {
		got := make([]byte, len(has))
		p.recv(p.b, p.qb, got, exs.WaitAll)
		p.event(p.qb, exs.EvtRecv, 0)
		p.same(got, has)
	}
	p.within("the file is asked for more", func() { <-m.asked })
	return m
}

// mutesEnd wants the events of all three.
func (p *pair) mutesEnd(n exs.Errno, has int) {
	p.Helper()
	lengths := map[any]int{"file": has, "next": 0, "word": 0}
	for range lengths {
		var e [1]exs.Event
		if got, err := p.qa.Dequeue(e[:], bound); got != 1 || err != nil {
			p.Fatalf("%d events, %v", got, err)
		}
		if want, ok := lengths[e[0].AHandle]; !ok || e[0].Errno != n || e[0].Length != want {
			p.Errorf("%v: %v with %d bytes, want %v with %d", e[0].AHandle, e[0].Errno, e[0].Length, n, want)
		}
	}
}

// TestSendFileOfPipe sends what comes through a pipe, to its end or a length of it, and refuses to begin in the middle of one.
func TestSendFileOfPipe(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		for _, length := range []int64{-1, 8} {
			p := w.connect(typ)
			from, to, err := os.Pipe()
			w.ok(err)
			_, err = p.a.SendFile([]exs.FileVec{{File: from, Length: length}}, 0, p.qa, nil)
			w.ok(err)
			const text = "what comes through a pipe"
			_, err = to.WriteString(text)
			w.ok(errors.Join(err, to.Close()))
			want := text
			if length > 0 {
				want = want[:length]
			}
			got := make([]byte, len(want))
			p.recv(p.b, p.qb, got, 0)
			p.event(p.qb, exs.EvtRecv, 0)
			if e := p.event(p.qa, exs.EvtSendFile, 0); e.Length != len(want) || string(got) != want {
				p.Errorf("length %d: %d bytes, %q", length, e.Length, got)
			}
			if _, err = p.a.SendFile([]exs.FileVec{{File: from, Offset: 1, Length: -1}}, exs.Block, p.qa, nil); err == nil {
				p.Error("a pipe was sent from its second byte on")
			}
			w.ok(from.Close())
		}
	})
}

// A file that does not answer holds up neither the end of its connection, nor the library's, nor what Cancel takes back.
func TestSendFileThatDoesNotAnswer(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		for _, has := range [][]byte{nil, pattern(1000, 1)} {
			for how, end := range map[string]func(p *pair) exs.Errno{
				"we tear it down": func(p *pair) exs.Errno {
					p.ok(p.a.Close(exs.Block|exs.DontLinger, nil, nil))
					return exs.ECONNRESET
				},
				"the peer tears it down": func(p *pair) exs.Errno {
					p.ok(p.b.Close(exs.Block|exs.DontLinger, nil, nil))
					return exs.ECONNRESET
				},
				"the peer receives no more": func(p *pair) exs.Errno {
					p.ok(p.b.Shutdown(exs.ShutRD, exs.Block, nil, nil))
					return exs.EPIPE
				},
				"cancel": func(p *pair) exs.Errno {
					if n, err := p.a.Cancel(nil, exs.CancelAll); n != 3 || err != nil {
						p.Errorf("%d cancelled, %v", n, err)
					}
					return exs.ECANCELED
				},
			} {
				p := w.connect(typ)
				p.sendsMute(has)
				var want exs.Errno
				w.within(how, func() { want = end(p) })
				p.mutesEnd(want, len(has))
			}
		}
		p := w.connect(typ)
		p.sendsMute(nil)
		w.within("the end of the library", func() { w.ok(w.here.Close()) })
		p.mutesEnd(exs.ECANCELED, 0)
	})
}

func TestSendFileToOneWhoDies(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		if w.here == w.there {
			return
		}
		p := w.connect(typ)
		p.sendsMute(nil)
		ep, err := w.there.Endpoint()
		w.ok(err)
		w.ok(ep.Close())
		p.mutesEnd(exs.ECONNRESET, 0)
	})
}

// What a file brings after its SendFile was cancelled does not get among what is sent then.
func TestSendFileAnswersLate(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		m := p.sendsMute(nil)
		if n, err := p.a.Cancel("file", 0); n != 1 || err != nil {
			w.Errorf("%d cancelled, %v", n, err)
		}
		if e := p.event(p.qa, exs.EvtSendFile, exs.ECANCELED); e.AHandle != "file" {
			w.Errorf("%v has ended", e.AHandle)
		}
		p.none(p.qa) // the next one asks the same file
		if n, err := p.a.Cancel("next", 0); n != 1 || err != nil {
			w.Errorf("%d cancelled, %v", n, err)
		}
		p.event(p.qa, exs.EvtSendFile, exs.ECANCELED)
		p.event(p.qa, exs.EvtSend, 0)
		m.answer()
		p.ok(p.a.BlockingClose())
		if got, err := io.ReadAll(p.b); string(got) != "word" || err != nil {
			w.Errorf("%q, %v", got, err)
		}
	})
}

// A SendFile that is cancelled in the middle has sent what its event says, and nothing else.
func TestSendFileTakenBack(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		all := pattern(20_000_000, 3)
		_, err := p.a.SendFile([]exs.FileVec{{Bytes: all, Length: -1}}, 0, p.qa, "file")
		p.ok(err)
		got := make([]byte, len(all)+4)
		n, err := p.b.Read(got)
		p.ok(err)
		if n, err := p.a.Cancel("file", 0); n != 1 || err != nil {
			w.Errorf("%d cancelled, %v", n, err)
		}
		p.send(p.a, p.qa, []byte("word"), 0)
		p.ok(p.a.Close(0, p.qa, "close"))
		for err == nil {
			var more int
			more, err = p.b.Read(got[n:])
			n += more
		}
		if err != io.EOF {
			w.Error(err)
		}
		e := p.event(p.qa, exs.EvtSendFile, exs.ECANCELED)
		p.same(got[:n], append(all[:e.Length:e.Length], "word"...))
	})
}
