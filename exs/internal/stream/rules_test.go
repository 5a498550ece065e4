package stream

import (
	"errors"
	"testing"
)

// some is a configuration whose numbers are easy to follow.
var some = Config{BufferMin: 100, BufferMax: 400, Credits: 4, MaxAdvertised: 4000, Piece: 1000, Segment: 50, DirectMin: 10}

// fixed is some with a buffer that does not grow.
var fixed = func() Config {
	c := some
	c.BufferMax = c.BufferMin
	return c
}()

const (
	allEager   = 1 << 20
	allFetched = 0
)

// carried checks how the bytes went.
func (w *world) carried(direct, indirect int) {
	w.t.Helper()
	s := w.s.Counters()
	if int(s.DirectBytes) != direct || int(s.IndirectBytes) != indirect {
		w.t.Fatalf("%d bytes went directly and %d through the buffer, not %d and %d", s.DirectBytes, s.IndirectBytes, direct, indirect)
	}
}

// ended checks the last operation that finished, and how many have.
func (w *world) ended(finished, n int, how Status) {
	w.t.Helper()
	if w.finished != finished || w.lastN != n || w.lastStatus != how {
		w.t.Fatalf("%d operations finished, the last with %d bytes and status %d, not %d, %d and %d",
			w.finished, w.lastN, w.lastStatus, finished, n, how)
	}
}

func (w *world) hearAll() {
	w.t.Helper()
	for w.toSender.len() > 0 {
		w.hear()
	}
}

func (w *world) matchAll() {
	w.t.Helper()
	for w.toReceiver.len() > 0 {
		w.match()
	}
}

func TestReceiverAhead(t *testing.T) {
	w := newWorld(t, some, allFetched)
	w.receive(200, 0)
	w.receive(200, 0)
	w.hearAll()
	w.send(200)
	w.send(150)
	w.quiet()
	w.carried(350, 0)
	w.ended(4, 150, OK)
	if w.verbs[ToResize] > 0 {
		t.Error("a buffer was made for nothing")
	}
}

func TestSenderAhead(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.send(70)
	w.ended(1, 70, OK) // the bytes have left, as far as the sender can tell
	w.quiet()
	w.receive(50, 0)
	w.ended(2, 50, OK)
	w.receive(50, 0)
	w.ended(3, 20, OK)
	w.carried(0, 70)
}

// TestInHand wants bytes for a receive that was too small for an advert to be copied
// once.
func TestInHand(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.receive(9, 0)
	w.receive(9, WaitAll)
	w.send(16)
	w.quiet()
	if w.verbs[ToPost] > 0 || w.verbs[ToStore] > 0 || w.verbs[ToPlace] != 2 {
		t.Errorf("%d receives posted, %d pieces stored, %d placed", w.verbs[ToPost], w.verbs[ToStore], w.verbs[ToPlace])
	}
	w.send(5)
	w.quiet()
	w.ended(4, 9, OK)
	if w.r.Buffered() != 3 {
		t.Errorf("%d bytes are left", w.r.Buffered())
	}
}

// TestCrossing has an advert meet bytes that were sent through the buffer before it
// came: both sides give it up, and the next one, written when these have been
// consumed, is good.
func TestCrossing(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.receive(100, 0)
	w.receive(100, 0)
	w.send(40)
	w.hearAll()
	if w.s.Counters().Stale != 2 {
		t.Fatalf("%d adverts were stale", w.s.Counters().Stale)
	}
	w.matchAll()
	if w.r.Counters().Voided != 2 || w.r.adverts.epoch != 2 {
		t.Fatalf("%d adverts were given up, epoch %d", w.r.Counters().Voided, w.r.adverts.epoch)
	}
	w.hearAll()
	w.send(60)
	w.quiet()
	w.carried(60, 40)
	w.ended(4, 60, OK)
}

// TestCrossingOften has epochs come too late time and again: adverts become rare, one at
// a time, until one of them is used.
func TestCrossingOften(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.receive(1900, WaitAll)
	w.receive(100, 0)
	w.receive(100, 0)
	for range 40 {
		w.send(20) // before it hears of what the one before has made the receiver do
		w.hearAll()
		w.match()
	}
	if r := w.r.Counters(); r.Adverts != 4+6 { // behind 1, 3, 6, 11, 20 and 37 messages
		t.Errorf("%d adverts", r.Adverts)
	}
	if w.s.Counters().Switches > 0 {
		t.Error("an advert has come in time")
	}
	for w.s.Counters().Switches == 0 && w.s.position < 1900 {
		w.send(20)
		w.quiet()
	}
	w.send(20)
	w.quiet()
	if len(w.posted) != 3 {
		t.Errorf("%d receives are posted", len(w.posted))
	}
	drain(w)
}

// TestAskEndsPause wants a sender that asks to get an advert, however late those before
// have come.
func TestAskEndsPause(t *testing.T) {
	c := some
	c.HoldMin = 60
	w := newWorld(t, c, allEager)
	w.receive(1000, WaitAll)
	w.hearAll()
	for range 10 {
		w.send(5)
		w.hearAll()
		w.match()
	}
	w.send(20)
	w.hearAll()
	w.send(70)
	w.quiet()
	if w.s.Counters().DirectBytes < 70 {
		t.Errorf("%+v", w.s.Counters())
	}
	drain(w)
}

func TestWindow(t *testing.T) {
	w := newWorld(t, fixed, allEager)
	w.send(1000)
	w.quiet()
	w.carried(0, 100)
	w.receive(1, Hidden)
	w.quiet()
	w.carried(0, 100) // one byte is not worth a word
	w.receive(49, Hidden)
	w.quiet()
	w.carried(0, 150)
	w.receive(1000, WaitAll|Hidden)
	w.quiet()
	w.carried(0, 1000)
	if c := w.r.Counters(); c.BufferPeak > 100 {
		t.Errorf("%d bytes lay in the buffer", c.BufferPeak)
	}
	drain(w)
}

// TestGrowth has a sender go on when nobody receives, until the buffer is as large as it
// may be.
func TestGrowth(t *testing.T) {
	for _, eager := range []int{allEager, allFetched} {
		c := some
		c.BufferMax = 250
		w := newWorld(t, c, eager)
		w.send(100)
		w.quiet()
		if w.r.capacity != 100 {
			t.Errorf("%d bytes of buffer for nothing", w.r.capacity)
		}
		w.send(1)
		w.quiet()
		if w.r.capacity != 200 || len(w.buffer) != 200 {
			t.Errorf("%d bytes of buffer, %d of memory", w.r.capacity, len(w.buffer))
		}
		w.send(1000)
		w.quiet()
		w.carried(0, 250)
		w.receive(1000, WaitAll|Hidden)
		w.quiet()
		if c := w.r.Counters(); w.r.capacity != 250 || c.BufferPeak > 250 {
			t.Errorf("%d bytes of buffer, at most %d used", w.r.capacity, c.BufferPeak)
		}
		drain(w)
	}
}

func TestCredits(t *testing.T) {
	w := newWorld(t, some, allFetched)
	for range 7 {
		w.receive(100, 0)
	}
	if len(w.posted) != 4 {
		t.Fatalf("%d receives posted with 4 credits", len(w.posted))
	}
	w.hearAll()
	w.send(100)
	w.match()
	w.complete(0)
	if len(w.posted) != 4 {
		t.Fatalf("%d receives posted with 4 credits, one given back", len(w.posted))
	}
	for range 6 {
		w.send(100)
		w.quiet()
	}
	w.carried(700, 0)
}

// TestPieces has a receive longer than a piece, which wants to be filled.
func TestPieces(t *testing.T) {
	w := newWorld(t, some, allFetched)
	w.receive(2500, WaitAll)
	w.receive(100, 0)
	w.hearAll()
	w.send(2550)
	w.quiet()
	w.carried(2550, 0)
	w.ended(3, 50, OK)
	if got := w.s.Counters().DirectMessages; got != 4 {
		t.Errorf("%d messages", got)
	}
}

// TestPartialFill wants a receive that several sends fill to get them directly, and
// nothing of them to go to the advert behind it.
func TestPartialFill(t *testing.T) {
	w := newWorld(t, some, allFetched)
	w.receive(300, WaitAll)
	w.receive(300, WaitAll)
	w.hearAll()
	for range 3 {
		w.send(100)
	}
	w.quiet()
	w.carried(300, 0)
	w.ended(4, 300, OK)
	if w.s.Counters().Holds == 0 {
		t.Error("the sender did not wait for the rest of the receive")
	}
}

// TestSmallPart wants small sends to fill a large receive through the buffer.
func TestSmallPart(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.receive(100, WaitAll)
	w.hearAll()
	for range 25 {
		w.send(4)
		w.matchAll()
	}
	w.quiet()
	w.carried(0, 100)
	w.ended(26, 100, OK)
	if w.r.Counters().Adverts != 3 { // then it has learnt
		t.Errorf("%d adverts", w.r.Counters().Adverts)
	}
}

func TestHold(t *testing.T) {
	c := fixed
	c.HoldMin = 60
	w := newWorld(t, c, allFetched)
	w.send(50)
	w.receive(50, 0)
	w.receive(500, 0)
	w.hearAll()
	w.send(500)
	w.quiet()
	w.carried(500, 50)

	w.send(500) // nobody waits, which a question finds out
	w.quiet()
	w.carried(500, 150)
	if got := w.s.Counters().Holds; got != 2 {
		t.Errorf("the sender held %d times", got)
	}
	drain(w)
}

// TestHoldWhileLanding has a question arrive while the bytes before it land, and the
// receives of which the answer could speak go.
func TestHoldWhileLanding(t *testing.T) {
	w := newWorld(t, some, allFetched)
	a := w.receive(300, WaitAll)
	w.hearAll()
	w.send(100)
	w.send(100)
	w.matchAll()
	if !w.s.holding || w.toSender.len() > 0 {
		t.Fatalf("holding %v, %d messages on their way back", w.s.holding, w.toSender.len())
	}
	b := w.receive(100, 0) // is advertised, in an epoch that the sender has left
	w.cancelReceive(a)
	w.cancelReceive(b)
	w.quiet()
	w.carried(100, 100)
	w.ended(4, 100, OK)
}

// TestNoHoldForAdvert has an advert that is not worth its use keep nobody waiting.
func TestNoHoldForAdvert(t *testing.T) {
	c := some
	c.HoldMin = 2
	w := newWorld(t, c, allEager)
	w.receive(100, WaitAll)
	w.hearAll()
	w.send(5)
	if w.s.holding {
		t.Fatal("waits for an advert that is there")
	}
	w.quiet()
}

// TestFetchList wants the account of pieces that wait for one on its way to be short.
func TestFetchList(t *testing.T) {
	w := newWorld(t, some, 10)
	w.send(50)
	for range 40 {
		w.send(1)
	}
	w.matchAll()
	if n := w.r.buffer.fetches.len(); n != 2 {
		t.Errorf("%d pieces", n)
	}
	drain(w)
}

func TestHalfClose(t *testing.T) {
	w := newWorld(t, some, allFetched)
	w.receive(200, 0)
	w.receive(100, WaitAll)
	w.receive(10, 0)
	w.hearAll()
	w.send(150)
	w.send(20)
	w.shutdown()
	w.shutdown()
	if err := w.s.Send(99, 1); !errors.Is(err, ErrShut) {
		t.Errorf("a send behind the end: %v", err)
	}
	w.matchAll() // the end arrives while bytes land
	if w.r.Ended() {
		t.Error("ended before the bytes are here")
	}
	w.quiet()
	w.ended(5, 0, OK)
	if !w.r.Ended() || !w.s.Idle() {
		t.Error("not ended")
	}
	w.receive(10, WaitAll)
	w.ended(6, 0, OK)
}

func TestPeek(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.receive(20, Peek)
	w.receive(20, 0)
	if len(w.posted) > 0 {
		t.Fatal("memory behind a look was advertised")
	}
	w.send(30)
	w.quiet()
	w.ended(3, 20, OK)
	w.receive(20, Peek)
	w.ended(4, 10, OK)
	w.receive(20, Peek|WaitAll)
	w.receive(500, Peek|WaitAll) // as much as the buffer ever holds
	w.ended(4, 10, OK)
	w.send(1000)
	w.quiet()
	w.ended(6, 400, OK)
	drain(w)
}

// What a receive has freed of the buffer, though less than half of it, is room for what a look behind it waits for.
func TestPeekWaitsForWhatTheBufferHolds(t *testing.T) {
	w := newWorld(t, fixed, allEager)
	w.send(1000)
	w.quiet() // the window is used up
	w.receive(20, 0)
	w.receive(fixed.BufferMax, Peek|WaitAll)
	w.quiet()
	w.ended(2, fixed.BufferMax, OK)
	drain(w)
}

func TestNoBuffer(t *testing.T) {
	c := some
	c.BufferMin, c.BufferMax = 0, NoBuffer
	w := newWorld(t, c, allEager)
	w.send(30)
	w.quiet()
	w.carried(0, 0)
	if err := w.r.Receive(99, 10, Peek); !errors.Is(err, ErrNoPeek) {
		t.Errorf("a look without a buffer: %v", err)
	}
	w.receive(5, Hidden)
	w.receive(100, WaitAll)
	w.quiet()
	w.carried(30, 0)
	w.ended(2, 30, OK)
	w.send(75)
	w.quiet()
	w.carried(105, 0)
	w.ended(4, 100, OK)
}

func TestEmpty(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.send(0)
	w.ended(1, 0, OK)
	w.receive(0, WaitAll)
	w.ended(2, 0, OK)
	w.receive(20, 0)
	w.receive(0, 0)
	w.ended(2, 0, OK) // in its turn
	w.send(20)
	w.quiet()
	w.ended(5, 0, OK)
}

func TestTrim(t *testing.T) {
	w := newWorld(t, some, allEager)
	w.send(20)
	w.quiet()
	w.r.Trim()
	w.runReceiver(nil)
	if len(w.buffer) == 0 {
		t.Fatal("the buffer went with its bytes")
	}
	w.receive(20, 0)
	w.r.Trim()
	w.runReceiver(nil)
	if len(w.buffer) > 0 {
		t.Fatal("the buffer is still there")
	}
	w.send(20)
	w.quiet()
	drain(w)
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{BufferMin: 2, BufferMax: 1}, {BufferMax: -2}, {Credits: -1}, {MaxAdvertised: 10, Piece: 11}, {Segment: 5, DirectMin: 6}, {HoldMin: -1},
	} {
		if _, err := NewSender(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := NewReceiver(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Config{{}, {BufferMax: NoBuffer}, {BufferMax: 100}, {Segment: 5}, {MaxAdvertised: 5000}} {
		full, err := c.Complete()
		if again, err2 := full.Complete(); err != nil || err2 != nil || again != full {
			t.Errorf("%+v becomes %+v, %v, and then %+v, %v", c, full, err, again, err2)
		}
	}
}
