package mx_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gomx/mx"
)

// call is what a handler was told.
type call struct {
	context any
	source  mx.EndpointAddr
	match   uint64
	length  uint32
	data    []byte
	present bool // data is not nil
}

// calls are those of a handler, which may run in another goroutine than the test.
type calls struct {
	mu   sync.Mutex
	list []call
}

func (c *calls) add(one call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, one)
}

func (c *calls) all() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

func (c *calls) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = nil
}

// record registers a handler that notes its calls and wants the action.
func record(w *world, ep *mx.Endpoint, action mx.UnexpAction) *calls {
	w.Helper()
	var calls calls
	if err := ep.RegisterUnexpHandler(func(context any, source mx.EndpointAddr, match uint64, length uint32, data []byte) mx.UnexpAction {
		calls.add(call{context, source, match, length, bytes.Clone(data), data != nil})
		return action
	}, "mine"); err != nil {
		w.Fatal(err)
	}
	return &calls
}

func TestVII13CallbackLearnsMatchAndLength(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		var got []string
		if err := b.RegisterUnexpCallback(func(context any, match uint64, length int) {
			got = append(got, fmt.Sprintf("%v:%d:%d", context, match, length))
		}, "mine"); err != nil {
			w.Fatal(err)
		}
		w.sendUnexpected(a, b, pattern(7, 0), toB, 3)
		w.sendUnexpected(a, b, pattern(100_000, 0), toB, 4)
		if want := "[mine:3:7 mine:4:100000]"; fmt.Sprint(got) != want {
			w.Errorf("%v, want %v", got, want)
		}
		if err := b.RegisterUnexpCallback(nil, nil); err != nil {
			w.Fatal(err)
		}
		w.sendUnexpected(a, b, nil, toB, 5)
		if len(got) != 2 {
			w.Error("called after it was taken away")
		}
		w.succeed(b, w.irecv(b, make([]byte, 7), 3, exact))
		w.succeed(b, w.irecv(b, make([]byte, 100_000), 4, exact))
	})
}

func TestVII13ReceivePostedInTheCallbackGetsTheMessage(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for _, n := range sizes {
			buf := make([]byte, n)
			posted := make(chan mx.Request, 1)
			if err := b.RegisterUnexpCallback(func(_ any, match uint64, _ int) {
				r, err := b.Irecv(buf, match, exact, nil)
				if err != nil {
					w.Error(err)
				}
				posted <- r
			}, nil); err != nil {
				w.Fatal(err)
			}
			send := w.isend(a, pattern(n, 7), toB, 1)
			w.until("the callback is called", func() bool { return len(posted) > 0 }, b)
			if st := w.succeed(b, <-posted); st.XferLength != uint32(n) || !bytes.Equal(buf, pattern(n, 7)) {
				w.Errorf("%d bytes: %+v", n, st)
			}
			w.succeed(a, send)
			if _, ok, _ := b.Iprobe(0, everything); ok {
				w.Error("the message is there twice")
			}
		}
	})
}

func TestVII14HandlerGetsEverything(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		calls := record(w, b, mx.RecvContinue)
		for name, send := range kinds {
			for _, n := range sizes {
				calls.forget()
				r, err := send(a, [][]byte{pattern(n, 8)}, toB, 6, nil)
				if err != nil {
					w.Fatal(err)
				}
				w.arrived(b, 6, exact)
				if len(calls.all()) != 1 {
					w.Fatalf("%s of %d bytes: %d calls", name, n, len(calls.all()))
				}
				c := calls.all()[0]
				if c.context != "mine" || c.source != toA || c.match != 6 || c.length != uint32(n) {
					w.Errorf("%s of %d bytes: %+v", name, n, c)
				}
				if c.present && !bytes.Equal(c.data, pattern(n, 8)) || n < 1024 && !c.present {
					w.Errorf("%s of %d bytes: data %d bytes, present %v", name, n, len(c.data), c.present)
				}
				w.succeed(b, w.irecv(b, make([]byte, n), 6, exact))
				w.succeed(a, r)
			}
		}
	})
}

func TestVII14HandlerGetsSelfMessagesToo(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		calls := record(w, a, mx.RecvContinue)
		for _, n := range []int{0, 1, 1023} {
			calls.forget()
			segs := cut(pattern(n, 8), 3)
			r, err := a.Isendv(segs, a.Addr(), 6, nil)
			if err != nil {
				w.Fatal(err)
			}
			w.arrived(a, 6, exact)
			if len(calls.all()) != 1 || !calls.all()[0].present || !bytes.Equal(calls.all()[0].data, pattern(n, 8)) || calls.all()[0].source != a.Addr() {
				w.Errorf("%d bytes: %+v", n, calls.all())
			}
			w.succeed(a, w.irecv(a, make([]byte, n), 6, exact))
			w.succeed(a, r)
		}
	})
}

func TestVII14HandlerIsNotCalledForExpectedMessages(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		calls := record(w, b, mx.RecvFinished)
		recv := w.irecv(b, nil, 1, exact)
		w.isend(a, nil, toB, 1)
		w.succeed(b, recv)
		if len(calls.all()) != 0 {
			w.Errorf("%+v", calls.all())
		}
	})
}

func TestVII14FinishedDropsTheMessageAndCompletesItsSender(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		eager, err := a.EagerTo(toB)
		if err != nil {
			w.Fatal(err)
		}
		calls := record(w, b, mx.RecvFinished)
		for name, send := range kinds {
			for _, n := range sizes {
				before := len(calls.all())
				r, err := send(a, [][]byte{pattern(n, 0)}, toB, 6, nil)
				if err != nil {
					w.Fatal(err)
				}
				w.until("the handler is called", func() bool { return len(calls.all()) > before }, b)
				st := w.done(a, r)
				told := n > 0 && (strings.HasPrefix(name, "issend") || n > eager) // else it left, and nothing more is said
				switch {
				case told && (st.Code != mx.StatusTruncated || st.XferLength != 0 || st.MsgLength != uint32(n)):
					w.Errorf("%s of %d bytes: %+v", name, n, st)
				case !told && st.Code != mx.StatusSuccess:
					w.Errorf("%s of %d bytes: %v", name, n, st.Code)
				}
				if _, ok, err := b.Iprobe(0, everything); ok || err != nil {
					w.Errorf("%s of %d bytes: it was kept; %v", name, n, err)
				}
			}
		}
	})
}

// A peer without credit may send before it learns of the handler. An empty message is shown all the same, as are those that cost one
// header, whether they travel whole or not.
func TestVII14HandlerGetsTheFirstMessageWithoutCredit(t *testing.T) {
	over(t, func(w *world) {
		for name, send := range kinds {
			for _, n := range []int{0, 1, 64} {
				a, b := w.open(), w.open(mx.WithUnexpQueueMax(1), mx.WithUnexpReserve(1))
				toB := w.connect(a, b)
				calls := record(w, b, mx.RecvFinished)
				r, err := send(a, [][]byte{pattern(n, 8)}, toB, 6, nil)
				if err != nil {
					w.Fatal(err)
				}
				w.until("the handler is called, or the message kept", func() bool {
					_, kept, err := b.Iprobe(6, exact)
					return len(calls.all()) > 0 || kept || err != nil
				}, b)
				if got := calls.all(); len(got) != 1 || !got[0].present || !bytes.Equal(got[0].data, pattern(n, 8)) {
					w.Fatalf("%s of %d bytes: %+v", name, n, got)
				}
				if st := w.done(a, r); n == 0 && st.Code != mx.StatusSuccess {
					w.Errorf("%s of %d bytes: %v", name, n, st.Code)
				}
			}
		}
	})
}

func TestVII14LaterRegistrationReplacesTheEarlier(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		first := record(w, b, mx.RecvContinue)
		var second atomic.Int32
		if err := b.RegisterUnexpCallback(func(any, uint64, int) { second.Add(1) }, nil); err != nil {
			w.Fatal(err)
		}
		w.sendUnexpected(a, b, nil, toB, 1)
		if len(first.all()) != 0 || second.Load() != 1 {
			w.Errorf("%d calls of the first, %d of the second", len(first.all()), second.Load())
		}
		third := record(w, b, mx.RecvContinue)
		w.sendUnexpected(a, b, nil, toB, 2)
		if second.Load() != 1 || len(third.all()) != 1 {
			w.Error("the callback was not replaced")
		}
		if err := b.RegisterUnexpHandler(nil, nil); err != nil {
			w.Fatal(err)
		}
		w.sendUnexpected(a, b, nil, toB, 3)
		if len(third.all()) != 1 {
			w.Error("the handler was not taken away")
		}
	})
}

func TestVII14HandlerMaySend(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		if err := b.RegisterUnexpHandler(func(_ any, source mx.EndpointAddr, match uint64, _ uint32, data []byte) mx.UnexpAction {
			if r, err := b.Isend(bytes.Clone(data), source, match+1, nil); err != nil {
				w.Error(err)
			} else if err := b.Forget(r); err != nil {
				w.Error(err)
			}
			return mx.RecvFinished
		}, nil); err != nil {
			w.Fatal(err)
		}
		buf := make([]byte, 50)
		recv := w.irecv(a, buf, 2, exact)
		w.isend(a, pattern(50, 1), toB, 1)
		w.until("the answer has come", func() bool { return counter(w, a, "messages received") == 1 }, a, b)
		w.succeed(a, recv)
		if !bytes.Equal(buf, pattern(50, 1)) {
			w.Error("the answer is another")
		}
	})
}

func TestVIII11DisabledProgressionStandsStill(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		calls := record(w, b, mx.RecvContinue)
		recv := w.irecv(b, nil, 1, exact)
		for range 3 { // it is a switch, not a count
			if err := b.DisableProgression(); err != nil {
				w.Fatal(err)
			}
		}
		w.isend(a, nil, toB, 1)
		w.isend(a, nil, toB, 2)
		w.isend(b, nil, b.Addr(), 3)
		w.pending(b, recv)
		if _, ok, err := b.Wait(recv, 1); ok || err != nil {
			w.Error(ok, err)
		}
		if _, ok, err := b.Iprobe(2, exact); ok || err != nil {
			w.Error("a message was taken in", ok, err)
		}
		if len(calls.all()) != 0 {
			w.Error("the handler was called")
		}
		if err := b.ReenableProgression(); err != nil {
			w.Fatal(err)
		}
		w.succeed(b, recv)
		w.arrived(b, 2, exact)
		w.arrived(b, 3, exact)
		if len(calls.all()) != 2 {
			w.Errorf("%d calls of the handler", len(calls.all()))
		}
	})
}

func TestVIII11DisableInsideTheHandler(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		var called atomic.Int32
		if err := b.RegisterUnexpCallback(func(any, uint64, int) {
			called.Add(1)
			if err := b.DisableProgression(); err != nil {
				w.Error(err)
			}
		}, nil); err != nil {
			w.Fatal(err)
		}
		for i := range uint64(3) {
			w.isend(a, nil, toB, i)
		}
		for i := range int32(3) {
			w.until("the next call", func() bool { return called.Load() > i }, b)
			for range 5 {
				if err := b.Progress(); err != nil {
					w.Fatal(err)
				}
			}
			if called.Load() != i+1 {
				w.Fatalf("%d calls", called.Load())
			}
			if err := b.ReenableProgression(); err != nil {
				w.Fatal(err)
			}
		}
		for i := range uint64(3) {
			w.arrived(b, i, exact)
			_ = b.ReenableProgression()
		}
	})
}

func TestVIII12ProgressMovesMessages(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		w.isend(a, nil, toB, 1)
		w.until("it has arrived", func() bool { return counter(w, b, "unexpected messages") == 1 }, a, b)
	})
}
