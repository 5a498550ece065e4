//go:build linux

package processes_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"syscall"
	"testing"
	"time"

	"gomx/mx"
)

// soon calls what must not wait for the partner.
func (s *scene) soon(what string, f func() error) {
	s.t.Helper()
	helped := time.AfterFunc(10*inTime, s.resume)
	begin := time.Now()
	err := f()
	took := time.Since(begin)
	helped.Stop()
	if err != nil || took > inTime {
		s.t.Errorf("%s, %s partner: took %v, error %v", what, s.peer, took, err)
	}
}

// errand returns one of the two requests of a kind.
func (s *scene) errand(op, of int) *errand { return s.errands[op*pairs+of] }

// atOnce makes the calls that wait for nothing, until the queues are full.
func (s *scene) atOnce() {
	s.t.Helper()
	noise, one := bitsOf(s.round, opNoise, 0), make([]byte, 8)
	copy(one, pattern(noise, 8))
	never := bitsOf(s.round, opNoise, 1)
	s.soon("SendNow", func() error {
		for s.noise < 1000 && s.ep.SendNow(one, s.to, noise) {
			s.noise++
		}
		return nil
	})
	s.soon("Put", func() (err error) {
		for sent, n := true, 0; sent && err == nil && n < 1000; n++ {
			sent, err = s.ep.Put(one, s.to, s.put, uint32(pairs*s.large))
		}
		return err
	})
	s.soon("RecvNow", func() error {
		_, r, err := s.ep.RecvNow(one, s.to, never, mx.MatchMaskNone)
		return errors.Join(err, s.abandoned(r))
	})
	s.soon("looking", func() error {
		_, reqs := s.undone()
		_, err := s.ep.TestAll(reqs, nil)
		_, _, err1 := s.ep.Iprobe(never, mx.MatchMaskNone)
		_, _, _, err2 := s.ep.Iclaim(never, mx.MatchMaskNone)
		_, err3 := s.ep.Ibuffered(s.errand(opPushed, 0).r)
		_, err4 := s.ep.Arm()
		_, err5 := s.ep.EagerTo(s.to)
		_, _, _, _ = s.ep.Diagnostics(), s.ep.Counters(), s.ep.Peers(), s.ep.Pending()
		return errors.Join(err, err1, err2, err3, err4, err5, s.ep.Progress(), s.ep.DisableProgression(), s.ep.ReenableProgression())
	})
}

func (s *scene) abandoned(r mx.Request) error {
	if r.IsZero() {
		return errors.New("a message has come that nobody has sent")
	}
	fate, _, err := s.ep.Abandon(r)
	if err == nil && fate != mx.FateCancelled {
		err = errors.New(fate.String())
	}
	return err
}

// othersEnd has calls wait for ever, each of which another call ends.
func (s *scene) othersEnd() {
	s.t.Helper()
	for _, x := range []struct {
		name string
		e    *errand
		end  func(r mx.Request) (mx.Fate, error)
	}{
		{"Abandon", s.errand(opRecv, 1), func(r mx.Request) (mx.Fate, error) {
			fate, _, err := s.ep.Abandon(r)
			return fate, err
		}},
		{"Cancel", s.errand(opTied, 1), func(r mx.Request) (mx.Fate, error) {
			_, err := s.ep.Cancel(r)
			return mx.FateCancelled, err
		}},
		{"Forget", s.errand(opSync, 1), func(r mx.Request) (mx.Fate, error) { return mx.FateInUse, s.ep.Forget(r) }},
	} {
		waited := s.inBackground(func() error { _, _, err := s.ep.Wait(x.e.r, mx.Infinite); return err })
		s.soon(x.name, func() (err error) {
			x.e.gone = true
			x.e.fate, err = x.end(x.e.r)
			return err
		})
		s.hear("a Wait that "+x.name+" ends", waited, mx.ErrBadRequest)
	}
	for name, over := range map[string][]*mx.Endpoint{"Queue.Close": {s.ep}, "Queue.Close over two": {s.ep, s.other}} {
		q, err := mx.NewQueue(over...)
		if err != nil {
			s.t.Fatal(err)
		}
		waited := s.inBackground(func() error {
			_, err := q.Wait(context.Background(), make([]mx.Completion, 1), mx.Infinite)
			return err
		})
		s.soon(name, func() error { q.Close(); return nil })
		s.hear(name, waited, mx.ErrBadEndpoint)
	}
	for _, w := range []*mx.Waiter{s.ep.NewWaiter(), s.ep.NewPassiveWaiter()} {
		waited := s.inBackground(func() error { _, err := w.Wait(mx.Infinite); return err })
		s.soon("Wake", func() error { w.Wake(); return nil })
		s.hear("Waiter.Wait", waited, nil)
	}
}

// inBackground calls f in a goroutine of its own, which most likely waits when inBackground returns.
func (s *scene) inBackground(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	time.Sleep(2 * time.Millisecond)
	return result
}

func (s *scene) hear(what string, result <-chan error, want error) {
	s.t.Helper()
	select {
	case err := <-result:
		if !errors.Is(err, want) {
			s.t.Errorf("%s: %v, want %v", what, err, want)
		}
	case <-time.After(inTime):
		s.resume()
		s.t.Fatalf("%s waits on", what)
	}
}

// window closes a window of ours that the partner writes into and reads.
func (s *scene) window() {
	s.t.Helper()
	memory := make([]byte, s.large)
	w := must[*mx.Window](s.t)(s.ep.OpenWindow(memory, mx.WindowRead|mx.WindowWrite))
	if s.peer == isSlow {
		s.child.Say("hold")
		s.child.Hear("held")
		s.leave()
	}
	s.child.Say("use %s", hex.EncodeToString(must[[]byte](s.t)(w.Handle().MarshalBinary())))
	s.child.Hear("uses")
	time.Sleep(5 * time.Millisecond)
	switch s.peer {
	case isStopped:
		s.leave()
	case isKilled:
		s.child.Signal(syscall.SIGKILL)
	}
	s.soon("Window.Close", w.Close)
	for i := range memory {
		memory[i] = canary
	}
	s.resume()
	if s.peer == isKilled {
		s.nothingPending(s.ep)
	} else {
		s.child.Hear("refused")
		s.child.Say("release")
		s.child.Hear("released")
	}
	if !bytes.Equal(memory, bytes.Repeat([]byte{canary}, len(memory))) {
		s.t.Error("the memory of a closed window was written to")
	}
}

// sessions ends sessions with a partner that does not answer: by a timeout of the endpoint or of a request, and by Disconnect.
func (s *scene) sessions() {
	s.t.Helper()
	over := mx.WithTransports(s.media, "self")
	a, b, c, d, e, f := open(s.t, over), open(s.t, over), open(s.t, over), open(s.t, over), open(s.t, over), open(s.t, over)
	toA, toB, toD, toE, toF := connect(s.t, a, s.id), connect(s.t, b, s.id), connect(s.t, d, s.id), connect(s.t, e, s.id), connect(s.t, f, s.id)
	counter := must[*mx.CompletionCounter](s.t)(e.NewCompletionCounter())
	s.child.Say("hold")
	s.child.Hear("held")
	s.leave()
	bits, large := bitsOf(s.round, 200, 0), make([]byte, s.large)
	ends := func(what string, ep *mx.Endpoint, start func() (mx.Request, error), limit bool, want mx.StatusCode) {
		s.t.Helper()
		r := must[mx.Request](s.t)(start())
		if limit {
			if err := ep.SetRequestTimeout(r, asked); err != nil {
				s.t.Error(err)
			}
		}
		st, done, err := ep.Wait(r, promise)
		if !done || err != nil || st.Code != want {
			s.t.Errorf("%s, %s partner: done %v, %v, error %v", what, s.peer, done, st.Code, err)
		}
	}
	if s.peer == isStopped { // a slow one shows that it is there, and whether it receives is its own affair
		if err := a.SetRequestTimeout(mx.Request{}, asked); err != nil {
			s.t.Error(err)
		}
		ends("a send, SetRequestTimeout of the endpoint", a, func() (mx.Request, error) { return a.Isend(large, toA, bits, nil) }, false, mx.StatusTimeout)
		ends("a later send", a, func() (mx.Request, error) { return a.Isend(large, toA, bits, nil) }, false, mx.StatusTimeout)
	}
	ends("a synchronous send, SetRequestTimeout", b, func() (mx.Request, error) { return b.Issend(large[:8], toB, bits, nil) }, true, mx.StatusTimeout)
	ends("a triggered send, SetRequestTimeout", e, func() (mx.Request, error) { return counter.At(1).Isend(large, toE, bits, nil) }, true, mx.StatusTimeout)
	if s.peer == isStopped {
		ends("an acknowledged send, SetRequestTimeout", f, func() (mx.Request, error) { return f.IsendAcked(large[:8], toF, bits, nil) }, true, mx.StatusTimeout)
	}
	ends("a triggered send, Disconnect", e, func() (mx.Request, error) {
		r, err := counter.At(1).Isend(large, toE, bits, nil)
		s.soon("Disconnect", func() error { return e.Disconnect(toE) })
		return r, err
	}, false, mx.StatusEndpointUnreachable)
	ends("a connect, SetRequestTimeout", c, func() (mx.Request, error) { return c.Iconnect(s.nic, s.stranger, filter, 1, nil) }, true, mx.StatusTimeout)
	ends("a send, Disconnect", d, func() (mx.Request, error) {
		r, err := d.Isend(large, toD, bits, nil)
		s.soon("Disconnect", func() error { return d.Disconnect(toD) })
		return r, err
	}, false, mx.StatusEndpointUnreachable)
	for _, ep := range []*mx.Endpoint{a, b, c, d, e, f} {
		s.nothingPending(ep)
		s.closes(ep)
	}
	s.resume()
	s.child.Say("release")
	s.child.Hear("released")
}

// closes closes an endpoint, which may wait for a second for what was sent and for another one to say goodbye.
func (s *scene) closes(ep *mx.Endpoint) {
	s.t.Helper()
	begin := time.Now()
	if err := ep.Close(); err != nil || time.Since(begin) > 2*inTime {
		s.t.Errorf("Close with a %s partner: %v, after %v", s.peer, err, time.Since(begin))
	}
}

// closing closes the endpoint while every call waits for ever. No two of them wait for the same request.
func (s *scene) closing() {
	s.t.Helper()
	for done := true; done; { // what the partner has sent before it was stopped
		var st mx.Status
		if st, done, _ = s.ep.WaitAny(50*time.Millisecond, 0, 0); done {
			if err := s.gotBits(st); err != nil {
				s.t.Error(err)
			}
		}
	}
	left, _ := s.undone()
	var waited []<-chan error
	table := blockings()
	for i, w := range table {
		part := &scene{t: s.t, ep: s.ep, other: s.other, nic: s.nic, stranger: s.stranger, round: s.round}
		if i < len(left) {
			part.errands = left[i : i+1]
		}
		waited = append(waited, s.inBackground(func() error {
			done, err := w.call(part, context.Background(), mx.Infinite)
			if done && err == nil {
				err = errors.New("done")
			}
			return err
		}))
	}
	s.closes(s.ep)
	s.closes(s.other)
	for i, w := range table {
		s.hear(w.name+" "+w.note+", ended by Close", waited[i], w.orSilent(mx.ErrBadEndpoint))
		if _, _, err := s.ep.Wait(s.errands[0].r, mx.Infinite); !errors.Is(err, mx.ErrBadEndpoint) {
			s.t.Errorf("Wait after Close: %v", err)
		}
	}
	s.canaries()
}

// tryOthers is about the calls that no time and no context ends, and about those that end others.
func tryOthers(t *testing.T, media, peer string) {
	s := newScene(t, media, peer)
	s.meet()
	if peer == isKilled {
		s.window()
		return
	}
	s.begin()
	s.leave()
	s.atOnce()
	s.othersEnd()
	s.giveUp()
	s.settle()
	s.window()
	s.sessions()
	if peer == isStopped { // of a slow one requests end, and other calls than those that wait for them may collect them
		s.begin()
		s.leave()
		s.closing()
	}
}
