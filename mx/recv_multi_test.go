package mx_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gomx/mx"
)

func (w *world) multi(ep *mx.Endpoint, q *mx.Queue, buf []byte, least int, match, mask uint64) mx.Request {
	w.Helper()
	r, err := ep.IrecvMulti(q, buf, least, match, mask, "multi")
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// next takes one completion.
func (w *world) next(q *mx.Queue) mx.Completion {
	w.Helper()
	var one [1]mx.Completion
	if n, err := q.Wait(noContext, one[:], bound); n != 1 || err != nil {
		w.Fatalf("no completion: %v", err)
	}
	return one[0]
}

func TestMultiReceiveTakesMany(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		q, buf := w.queue(b), make([]byte, 1<<20)
		m := w.multi(b, q, buf, 1<<19, 0x100, 0xff00)
		end := 0
		for i, n := range []int{10, 0, 3000, 100_000, 0, 1, 400_000, 40_000} {
			sent := pattern(n, byte(i))
			r := w.isend(a, sent, toB, 0x100+uint64(i))
			c := w.next(q)
			if c.Request != m || c.Message == nil || c.Status.Code != mx.StatusSuccess || c.Status.MatchInfo != 0x100+uint64(i) ||
				c.Status.Source != toA || c.Status.Context != "multi" || int(c.Status.XferLength) != n || int(c.Status.MsgLength) != n {
				w.Fatalf("message %d: %+v", i, c)
			}
			w.same(c.Message, sent)
			end = (end + 7) &^ 7
			if n > 0 && &c.Message[0] != &buf[end] {
				w.Errorf("message %d is not at %d", i, end)
			}
			end += max(n, 1) // an empty message takes a place
			w.succeed(a, r)
		}
		c := w.next(q)
		if c.Request != m || c.Message != nil || c.Status.Code != mx.StatusSuccess || int(c.Status.XferLength) != end {
			w.Fatalf("at the end, which is %d: %+v", end, c)
		}
		if _, _, err := b.Test(m); !errors.Is(err, mx.ErrBadRequest) {
			w.Errorf("it can be tested: %v", err)
		}
		w.sendUnexpected(a, b, nil, toB, 0x100)
	})
}

// TestMultiReceiveOfEmptyMessages: they use the buffer up, too, so that nobody can have an endpoint note any number of them. Half of them have
// arrived before.
func TestMultiReceiveOfEmptyMessages(t *testing.T) {
	const places = 10
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		for i := range uint64(places / 2) {
			w.sendUnexpected(a, b, nil, toB, i)
		}
		m := w.multi(b, q, make([]byte, 8*places-7), 0, 0, 0)
		for i := places / 2; i < places; i++ {
			w.succeed(a, w.isend(a, nil, toB, uint64(i)))
		}
		w.sendUnexpected(a, b, nil, toB, places)
		for i := range places {
			if c := w.next(q); c.Request != m || c.Message == nil || len(c.Message) != 0 || c.Status.MatchInfo != uint64(i) {
				w.Fatalf("message %d: %+v", i, c)
			}
		}
		if c := w.next(q); c.Request != m || c.Message != nil || c.Status.XferLength != 8*places-7 {
			w.Fatalf("at the end: %+v", c)
		}
	})
}

// TestMultiReceiveInOrder: a queue tells of the messages of a multi-receive and of other requests in the order in which they came.
func TestMultiReceiveInOrder(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		w.multi(b, q, make([]byte, 1<<16), 0, 0x100, 0xff00)
		random := rand.New(rand.NewPCG(3, 1))
		var want []uint64 // of what is in the queue
		for round := range 8 {
			for range 20 + random.IntN(60) {
				match := uint64(0x100 + len(want))
				if random.IntN(2) == 0 {
					match += 0x100
					w.add(q, w.irecv(b, make([]byte, 8), match, mx.MatchMaskNone))
				}
				want = append(want, match)
				w.succeed(a, w.isend(a, pattern(8, byte(round)), toB, match))
			}
			last := w.irecv(b, nil, 0x400, mx.MatchMaskNone)
			w.succeed(a, w.isend(a, nil, toB, 0x400))
			w.succeed(b, last) // all before it have come
			leave := random.IntN(20)
			for i := range len(want) - leave {
				if got := w.next(q).Status.MatchInfo; got != want[i] {
					w.Fatalf("round %d: the queue has %#x in place %d, want %#x", round, got, i, want[i])
				}
			}
			want = want[len(want)-leave:]
		}
	})
}

// TestMultiReceiveTakesWhatHasArrived has messages come before the multi-receives, more than the first one has room for.
func TestMultiReceiveTakesWhatHasArrived(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		lengths := []int{100, 70_000, 8, 0, 200_000, 300, 300}
		for i, n := range lengths {
			w.sendUnexpected(a, b, pattern(n, byte(i)), toB, uint64(i))
		}
		first, second := make([]byte, 70_211), make([]byte, 1<<20)
		one, two := w.multi(b, q, first, 100, 0, 0), w.multi(b, q, second, 0, 0, 0)
		seen := map[uint64]bool{}
		ended := false
		for len(seen) < len(lengths) || !ended {
			c := w.next(q)
			if c.Message == nil {
				if ended = c.Request == one; !ended {
					w.Fatalf("%+v", c)
				}
				continue
			}
			i := c.Status.MatchInfo
			if want := two; i < 3 {
				want = one
				if c.Request != want {
					w.Errorf("message %d came to another buffer", i)
				}
			}
			w.same(c.Message, pattern(lengths[i], byte(i)))
			seen[i] = true
		}
		if taken, err := b.Cancel(two); !taken || err != nil {
			w.Errorf("cancel: %v, %v", taken, err)
		}
		if list := b.Pending(); len(list) != 0 {
			w.Errorf("left: %v", list)
		}
	})
}

// TestMultiReceiveKeepsItsPlace posts one between two receives.
func TestMultiReceiveKeepsItsPlace(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		before := w.irecv(b, make([]byte, 8), 1, exact)
		m := w.multi(b, q, make([]byte, 64), 9, 0, 0)
		after := w.irecv(b, make([]byte, 8), 1, exact)
		for range 3 {
			w.isend(a, make([]byte, 8), toB, 1)
		}
		w.succeed(b, before)
		for range 2 {
			if c := w.next(q); c.Request != m {
				w.Errorf("%+v", c)
			}
		}
		w.pending(b, after)
		if list := fmt.Sprint(b.Pending()); !strings.Contains(list, "takes messages") {
			w.Error(list)
		}
		w.isend(a, make([]byte, 100), toB, 1) // is cut, and fills the buffer
		if c := w.next(q); c.Status.Code != mx.StatusTruncated || len(c.Message) != 64-16 || c.Status.MsgLength != 100 {
			w.Errorf("%+v", c)
		}
		if c := w.next(q); c.Request != m || c.Message != nil || c.Status.XferLength != 64 {
			w.Errorf("%+v", c)
		}
		w.isend(a, make([]byte, 8), toB, 1)
		w.succeed(b, after)
	})
}

func TestMultiReceiveOfOwnMessages(t *testing.T) {
	over(t, func(w *world) {
		a, _, _, _ := w.pair()
		q := w.queue(a)
		m := w.multi(a, q, make([]byte, 1<<18), 1, 1, exact)
		for _, n := range []int{9, 100_000, 0} {
			r := w.isend(a, pattern(n, 1), a.Addr(), 1)
			c := w.next(q)
			if c.Request != m || c.Status.Code != mx.StatusSuccess {
				w.Errorf("%+v", c)
			}
			w.same(c.Message, pattern(n, 1))
			w.succeed(a, r)
		}
	})
}

func TestMultiReceiveEnds(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q := w.queue(b)
		m := w.multi(b, q, make([]byte, 100), 10, 1, exact)
		w.isend(a, make([]byte, 5), toB, 1)
		w.next(q)
		q.Close()
		if st := w.succeed(b, m); st.XferLength != 5 {
			w.Errorf("after its queue was closed: %+v", st)
		}
		if _, err := b.IrecvMulti(q, make([]byte, 1), 0, 1, exact, nil); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("a closed queue: %v", err)
		}
		open := w.queue(b)
		for _, bad := range []struct {
			q     *mx.Queue
			bytes int
			least int
			mask  uint64
			want  error
		}{
			{nil, 1, 0, exact, mx.ErrBadParamVal}, {w.queue(a), 1, 0, exact, mx.ErrBadParamVal}, {open, 0, 0, exact, mx.ErrBadSegMem},
			{open, 8, 9, exact, mx.ErrBadSegMem}, {open, 8, -1, exact, mx.ErrBadSegMem}, {open, 8, 1, 0, mx.ErrBadMatchMask},
		} {
			_, err := b.IrecvMulti(bad.q, make([]byte, bad.bytes), bad.least, 1, bad.mask, nil)
			if !errors.Is(err, bad.want) || !strings.Contains(err.Error(), b.String()) || bad.bytes == 0 && !strings.Contains(err.Error(), "empty") {
				w.Errorf("%+v: %v", bad, err)
			}
		}
	})
}

// TestMultiReceivesAtRandom sends messages of all sizes to a row of buffers, and has sessions end among them.
func TestMultiReceivesAtRandom(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		q, rng := w.queue(b), rand.New(rand.NewPCG(1, 2))
		const size, messages = 1 << 17, 400
		posted, at := map[mx.Request][]byte{}, map[mx.Request]int{}
		post := func() {
			buf := make([]byte, size)
			posted[w.multi(b, q, buf, size/2, 0, 0)] = buf
		}
		post()
		post()
		var sends []mx.Request
		var lengths []int
		for i := range messages {
			n := [...]int{rng.IntN(9), rng.IntN(3000), rng.IntN(size / 2)}[rng.IntN(3)]
			lengths = append(lengths, n)
			sends = append(sends, w.isend(a, pattern(n, byte(i)), toB, uint64(i)))
		}
		for seen := 0; seen < messages; {
			c := w.next(q)
			buf := posted[c.Request]
			if buf == nil || c.Status.Code != mx.StatusSuccess {
				w.Fatalf("%+v", c)
			}
			if c.Message == nil {
				if int(c.Status.XferLength) < at[c.Request] {
					w.Errorf("%d bytes were used, and there is a message up to %d", c.Status.XferLength, at[c.Request])
				}
				delete(posted, c.Request)
				post()
				continue
			}
			seen++
			i := int(c.Status.MatchInfo)
			w.same(c.Message, pattern(lengths[i], byte(i)))
			lengths[i] = -1 // once
		}
		for _, r := range sends {
			w.succeed(a, r)
		}
		for i := range 20 {
			w.isend(a, pattern(100_000, byte(i)), toB, uint64(i))
		}
		if err := b.Disconnect(toA); err != nil {
			w.Fatal(err)
		}
		q.Close()
		w.until("the buffers are given back", func() bool { return len(b.Pending()) == 0 }, a, b)
	})
}

// A multi-receive that a counter takes is counted message by message, and at its end, which gives its buffer back.
func TestMultiReceiveIsCounted(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q, c := w.queue(b), w.counter(b)
		for _, size := range []int{8, 100_000} {
			buf := make([]byte, 3*size)
			m := w.multi(b, q, buf, 1, 5, exact)
			w.succeed(a, w.isend(a, pattern(size, 1), toB, 5))
			if got := w.next(q); got.Request != m || got.Message == nil {
				w.Fatalf("what came before the counter took it: %+v", got)
			}
			s, _, err := c.Value()
			if err != nil {
				w.Fatal(err)
			}
			w.count(c, m)
			for i := range 2 {
				r := w.isend(a, pattern(size, byte(2+i)), toB, 5)
				w.counts(c, s+uint64(i+1)+uint64(i), 0) // the second one, and with it the end
				w.succeed(a, r)
			}
			w.same(buf[size:2*size], pattern(size, 2))
			w.same(buf[2*size:], pattern(size, 3))
			if pending := b.Pending(); len(pending) != 0 {
				w.Errorf("still pending: %v", pending)
			}
		}
		m := w.multi(b, q, make([]byte, 64), 1, 6, exact)
		w.count(c, m)
		before, _, _ := c.Value()
		w.succeed(a, w.isend(a, pattern(8, 1), toB, 6))
		w.counts(c, before+1, 0)
		c.Close()
		if pending := b.Pending(); len(pending) != 0 {
			w.Errorf("pending after Close of the counter: %v", pending)
		}
	})
}

// Messages that nobody has collected when the queue is closed go with it: the multi-receive alone is the endpoint's then. One that still
// arrives is dropped when it has come, and the buffer is given back then.
func TestMultiReceiveLosesItsQueue(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		q, other := w.queue(b), w.queue(b)
		alone := w.multi(b, q, make([]byte, 64), 8, 1, exact)
		moved := w.multi(b, q, make([]byte, 64), 8, 2, exact)
		large := w.multi(b, q, make([]byte, 1<<20), 1, 3, exact)
		full := w.multi(b, q, make([]byte, 8), 8, 4, exact)
		for _, match := range []uint64{1, 1, 2, 4} {
			w.succeed(a, w.isend(a, make([]byte, 8), toB, match))
		}
		w.succeed(a, w.isend(a, nil, toB, 5))
		w.succeed(b, w.irecv(b, nil, 5, exact)) // and the others have come before
		if err := other.Add(moved); err != nil {
			w.Fatal(err)
		}
		r := w.isend(a, pattern(1<<20, 1), toB, 3)
		q.Close()
		w.succeed(a, w.isend(a, make([]byte, 8), toB, 2))
		if c := w.next(other); c.Request != moved || c.Message == nil {
			w.Errorf("in the other queue: %+v", c)
		}
		if taken, err := b.Cancel(moved); !taken || err != nil {
			w.Errorf("nothing uncollected is in it: %v, %v", taken, err)
		}
		for want := map[mx.Request]bool{alone: true, large: true, full: true}; len(want) > 0; {
			c, ok, err := b.Peek(bound)
			if !ok || err != nil || !want[c] {
				w.Fatalf("%v is complete: %v, %v", c, ok, err)
			}
			delete(want, c)
			if st := w.succeed(b, c); c == alone && st.XferLength != 16 || c == full && st.XferLength != 8 {
				w.Errorf("%+v", st)
			}
		}
		if c, ok, err := b.Ipeek(); ok || err != nil {
			w.Errorf("left: %v, %v", c, err)
		}
		if list := b.Pending(); len(list) != 0 {
			w.Errorf("left: %v", list)
		}
		late := w.irecv(b, make([]byte, 1<<20), 3, exact) // the large one may have come after Close
		w.succeed(a, r)
		if taken, err := b.Cancel(late); err != nil {
			w.Error(err)
		} else if !taken {
			w.succeed(b, late)
		}
	})
}
