package stream

import (
	"errors"
	"testing"
)

// TestCancelWaiting cancels receives that the sender knows nothing of.
func TestCancelWaiting(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.receive(5, 0)
	b := w.receive(5, 0)
	c := w.receive(30, WaitAll|Hidden)
	if !w.cancelReceive(b) || w.cancelReceive(b) || w.cancelReceive(77) {
		t.Error("cancelled the wrong ones")
	}
	w.ended(1, 0, Cancelled)
	w.send(15)
	w.quiet()
	if !w.cancelReceive(c) {
		t.Error("not cancelled")
	}
	w.ended(4, 10, Cancelled)
	drain(w)
}

// TestCancelUnused takes back an advert that the sender has not used, at once.
func TestCancelUnused(t *testing.T) {
	w := newWorld(t, some, allFetched)
	a := w.receive(100, 0)
	w.receive(100, 0)
	w.cancelReceive(a)
	w.ended(1, 0, Cancelled)
	if len(w.posted) > 0 {
		t.Fatal("memory behind it is still posted, and the bytes might be for the cancelled one")
	}
	w.quiet()
	if len(w.posted) != 1 {
		t.Fatal("the other receive is not advertised again")
	}
	w.send(100)
	w.quiet()
	w.carried(100, 0)
	w.ended(3, 100, OK)
}

// TestCancelLast leaves what stands before the cancelled receive alone.
func TestCancelLast(t *testing.T) {
	w := newWorld(t, some, allFetched)
	w.receive(100, 0)
	b := w.receive(100, 0)
	w.cancelReceive(b)
	w.ended(1, 0, Cancelled)
	if len(w.posted) != 1 {
		t.Fatalf("%d receives are posted", len(w.posted))
	}
	w.quiet()
	w.send(100)
	w.receive(100, 0)
	w.quiet()
	w.send(100)
	w.quiet()
	w.carried(200, 0)
}

// TestCancelUsed takes back an advert whose bytes are on their way: they go to the
// receive behind it, and to the buffer, in order.
func TestCancelUsed(t *testing.T) {
	for _, eager := range []int{allEager, allFetched} {
		w := newWorld(t, some, eager)
		a := w.receive(1000, 0)
		w.receive(100, 0)
		w.receive(100, 0)
		w.hearAll()
		w.send(300)
		w.send(100)
		w.send(100)
		w.cancelReceive(a)
		w.quiet()
		w.carried(500, 0)
		w.receive(300, WaitAll)
		w.quiet()
		w.ended(7, 300, OK)
		if c := w.r.Counters(); c.Strays != 3 || c.Withdrawn != 3 {
			t.Errorf("%+v", c)
		}
		if len(w.buffer) > w.r.capacity {
			t.Errorf("the buffer stays at %d bytes", len(w.buffer))
		}
		w.receive(100, 0)
		w.quiet()
		w.send(100)
		w.quiet()
		w.carried(600, 0)
		drain(w)
	}
}

// TestStraysLeaveRoom has the buffer grow while bytes lie there that were sent for a
// cancelled receive.
func TestStraysLeaveRoom(t *testing.T) {
	for _, eager := range []int{allEager, allFetched} {
		w := newWorld(t, some, eager)
		a := w.receive(300, 0)
		w.hearAll()
		w.send(300)
		w.cancelReceive(a)
		w.send(1000)
		w.quiet()
		w.carried(300, 400)
		if len(w.buffer) != 700 {
			t.Errorf("%d bytes of buffer", len(w.buffer))
		}
		w.receive(1300, WaitAll|Hidden)
		w.quiet()
		if len(w.buffer) > w.r.capacity {
			t.Errorf("the buffer stays at %d bytes", len(w.buffer))
		}
		drain(w)
	}
}

// TestCancelLanding cancels a receive in which bytes are landing.
func TestCancelLanding(t *testing.T) {
	w := newWorld(t, some, allFetched)
	a := w.receive(100, 0)
	b := w.receive(100, 0)
	w.hearAll()
	w.send(60)
	w.match()
	w.cancelReceive(a)
	w.cancelReceive(b)
	w.ended(1, 0, Cancelled)
	w.complete(0)
	w.ended(3, 60, OK)
	w.quiet()
	drain(w)
}

// TestStay takes the Cancel of a receive back in which bytes are landing: it waits for the others.
func TestStay(t *testing.T) {
	w := newWorld(t, some, allFetched)
	a := w.receive(100, WaitAll)
	b := w.receive(100, 0)
	w.hearAll()
	w.send(60)
	w.match()
	w.cancelReceive(a)
	w.r.Stay(a)
	w.r.Stay(b) // which is not cancelled
	w.r.Stay(77)
	w.runReceiver(nil)
	w.complete(0)
	w.quiet()
	w.ended(1, 60, OK) // the send
	w.send(100)
	w.quiet()
	if w.finished != 4 {
		t.Errorf("%d operations finished", w.finished)
	}
	drain(w)
}

// TestCancelCrossing takes an advert back that the sender has found stale.
func TestCancelCrossing(t *testing.T) {
	w := newWorld(t, some, allEager)
	a := w.receive(100, 0)
	w.send(40)
	w.cancelReceive(a)
	w.hearAll()
	w.ended(2, 0, Cancelled)
	w.quiet()
	if w.r.Buffered() != 40 {
		t.Errorf("%d bytes in the buffer", w.r.Buffered())
	}
	drain(w)
}

func TestCancelSend(t *testing.T) {
	w := newWorld(t, fixed, allFetched)
	a := w.send(250)
	b := w.send(10)
	c := w.send(20)
	if !w.cancelSend(b) || w.cancelSend(b) {
		t.Error("cancelled the wrong ones")
	}
	w.ended(1, 0, Cancelled)
	if !w.cancelSend(a) || w.cancelSend(a) || w.cancelSend(77) {
		t.Error("cancelled the wrong ones")
	}
	w.ended(1, 0, Cancelled) // its memory is in use
	w.quiet()
	w.ended(2, 100, Cancelled)
	w.receive(100, 0)
	w.quiet()
	w.ended(4, 20, OK)
	if w.cancelSend(c) {
		t.Error("cancelled what had gone")
	}
	drain(w)
}

// TestReset resets both ends at any moment: everything finishes, once.
func TestReset(t *testing.T) {
	anyMoment(t, func(w *world) {
		w.aborting = true
		w.r.Reset()
		w.runReceiver(nil)
		w.s.Reset()
		w.runSender()
		w.quiet()
		if err := w.r.Receive(1, 1, 0); !errors.Is(err, ErrReset) {
			w.t.Fatal(err)
		}
		if err := w.s.Send(1, 1); !errors.Is(err, ErrReset) {
			w.t.Fatal(err)
		}
	})
}

// TestReaderLeaves has the receiver lose interest at any moment: its receives
// finish, and so do all sends.
func TestReaderLeaves(t *testing.T) {
	anyMoment(t, func(w *world) {
		if !w.r.cfg.buffered() {
			w.receive(1<<16, WaitAll) // takes all that is left
			w.shutdown()
			w.quiet()
			return
		}
		w.r.Shutdown()
		w.runReceiver(nil)
		w.quiet()
		w.receive(10, 0)
		w.send(1000)
		w.shutdown()
		w.quiet()
		if !w.r.Ended() {
			w.t.Fatalf("%s: not ended", w.state())
		}
	})
}

func anyMoment(t *testing.T, then func(w *world)) {
	seeds := 3000
	if testing.Short() {
		seeds = 600
	}
	for seed := range seeds {
		pick := seeded(seed)
		w := newWorld(t, randomConfig(pick), pick(60))
		for range pick(200) {
			step(w, pick, 200, 4)
		}
		then(w)
		if len(w.sends)+len(w.receives)+len(w.posted)+len(w.flying) > 0 {
			t.Fatalf("seed %d: %d sends, %d receives, %d posted and %d landing are left",
				seed, len(w.sends), len(w.receives), len(w.posted), len(w.flying))
		}
	}
}
