package stream

import "testing"

// lose ends the peer: what has not matched never comes. Of what is on its way, fails says which messages do not come either.
// It returns how many bytes were sent in vain; with failures there may be more.
func (w *world) lose(fails func(landing bool) bool) (vain int, failed bool) {
	w.t.Helper()
	for ; w.toReceiver.len() > 0; w.toReceiver.pop() {
		p := w.toReceiver.front()
		vain += p.n
		if !p.tell && p.data == nil {
			w.s.Sent(p.id)
		}
	}
	w.toSender.clear()
	w.r.Lose()
	w.runReceiver(nil)
	gap := false
	for len(w.flying) > 0 {
		f := w.flying[0]
		if !(gap && !f.landing) && !fails(f.landing) { // nothing is done with what is fetched behind a gap
			w.complete(0)
			continue
		}
		failed = true
		w.flying = w.flying[1:]
		if f.data == nil {
			w.s.Sent(f.id)
			w.runSender()
		}
		if f.landing {
			w.aborting = true
			w.r.Reset()
			w.runReceiver(nil)
			w.must(w.r.Landed(f.number, 0))
		} else {
			gap = true
			w.r.Unfetched(f.ticket)
		}
		w.runReceiver(nil)
	}
	w.s.Reset()
	w.runSender()
	if w.toSender.len() > 0 {
		w.t.Fatal("the receiver talks to a peer that is gone")
	}
	return vain, failed
}

// takeRest receives until the end, or the abort.
func (w *world) takeRest() {
	w.t.Helper()
	for range len(w.stream) + 2 {
		if w.r.dead {
			return
		}
		w.receive(50, 0)
		if w.lastN == 0 {
			return
		}
	}
	w.t.Fatalf("%s: neither an end nor an abort", w.state())
}

// TestPeerIsLost loses the peer at any moment, in whose messages nothing is missing: all that has matched is received.
func TestPeerIsLost(t *testing.T) {
	aborts := 0
	anyMoment(t, func(w *world) {
		vain, _ := w.lose(func(bool) bool { return false })
		w.takeRest()
		if len(w.stream) != vain {
			w.t.Fatalf("%s: %d bytes are lost, not %d", w.state(), len(w.stream), vain)
		}
		if w.lastStatus == Aborted {
			aborts++
		}
	})
	if aborts == 0 {
		t.Error("no receive was aborted")
	}
}

// TestPeerIsLostHalfWay loses messages that were under way besides: what is received has no gap, which world sees to.
func TestPeerIsLostHalfWay(t *testing.T) {
	for name, lands := range map[string]bool{"landing": true, "fetched": false} {
		t.Run(name, func(t *testing.T) {
			moment, failures := 0, 0
			anyMoment(t, func(w *world) {
				pick := seeded(moment)
				moment++
				vain, failed := w.lose(func(landing bool) bool { return landing == lands && pick(3) == 0 })
				w.takeRest()
				if failed {
					failures++
					if w.lastStatus == OK && w.lastN == 0 && !w.r.dead && w.r.Ended() {
						w.t.Fatalf("%s: an end behind a gap", w.state())
					}
				} else if len(w.stream) != vain {
					w.t.Fatalf("%s: %d bytes are lost, not %d", w.state(), len(w.stream), vain)
				}
			})
			if failures == 0 {
				t.Error("nothing was under way")
			}
		})
	}
}

// TestEndOfTheLost: the end that was announced is received as one.
func TestEndOfTheLost(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.send(70)
	w.shutdown()
	w.quiet()
	w.lose(nil)
	w.receive(100, WaitAll)
	w.ended(2, 70, OK)
	w.receive(1, 0)
	w.ended(3, 0, OK)
}

// TestLostBeforeTheEndIsFetched: the end lies behind bytes that do not come.
func TestLostBeforeTheEndIsFetched(t *testing.T) {
	w := newWorld(t, some, 20)
	w.send(20)
	w.send(40)
	w.send(10)
	w.shutdown()
	w.hearAll()
	w.matchAll()
	w.lose(func(bool) bool { return true })
	w.receive(100, 0)
	if w.lastN != 20 || w.lastStatus != OK {
		t.Errorf("%d bytes, status %d", w.lastN, w.lastStatus)
	}
	w.receive(10, 0)
	if w.lastN != 0 || w.lastStatus != Aborted {
		t.Errorf("behind them %d bytes, status %d", w.lastN, w.lastStatus)
	}
}
