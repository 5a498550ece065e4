package mx_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

// TestTriggeredSendsForward sends a message on from endpoint to endpoint. Those in the middle make no call meanwhile.
func TestTriggeredSendsForward(t *testing.T) {
	over(t, func(w *world) {
		for _, n := range []int{0, 8, 3000, 1 << 20} {
			a, b, c, d := w.open(), w.open(), w.open(), w.open()
			toB, toC, toD := w.connect(a, b), w.connect(b, c), w.connect(c, d)
			for _, hop := range []struct {
				at *mx.Endpoint
				to mx.EndpointAddr
			}{{b, toC}, {c, toD}} {
				k, buf := w.counter(hop.at), make([]byte, n)
				w.count(k, w.irecv(hop.at, buf, 1, exact))
				w.count(k, must(k.At(1).Isend(buf, hop.to, 1, nil)))
			}
			got, want := make([]byte, n), pattern(n, 7)
			last := w.irecv(d, got, 1, exact)
			first := w.isend(a, want, toB, 1)
			w.succeed(d, last)
			w.succeed(a, first)
			w.same(got, want)
		}
	})
}

// TestTriggeredOperations begins one of each kind, each when the one before it is over.
func TestTriggeredOperations(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		win, err := b.OpenWindow(make([]byte, 1<<20), mx.WindowRead|mx.WindowWrite)
		if err != nil {
			w.Fatal(err)
		}
		h, k := win.Handle(), w.counter(a)
		b8 := func(n uint64) []byte { return binary.NativeEndian.AppendUint64(nil, n) }
		large, got, old := pattern(1<<19, 3), make([]byte, 1<<19), b8(40)
		in := make([]byte, 6)
		message := w.irecv(b, in, 9, exact)
		steps := []mx.Request{
			must(k.At(1).Iput(b8(2), toB, h, 0, 1, nil)),
			must(k.At(2).Iatomic(mx.AtomicSum, mx.AtomicUint64, b8(100), toB, h, 0, 2, nil)),
			must(k.At(3).IfetchAtomic(mx.AtomicSum, mx.AtomicUint64, old, toB, h, 0, 3, nil)),
			must(k.At(4).Iput(large, toB, h, 1<<19, 4, nil)),
			must(k.At(5).Iget(got, toB, h, 1<<19, 5, nil)),
			must(k.At(6).IsendLevel(mx.SendMatched, [][]byte{[]byte("abc"), []byte("def")}, toB, 9, "context")),
		}
		for _, r := range steps {
			w.pending(a, r)
		}
		list := a.Pending()
		if len(list) != len(steps) {
			w.Errorf("%v", list)
		}
		for _, p := range list {
			if !strings.Contains(p.Stage, fmt.Sprintf("begins when counter %d comes to ", k.Number())) || !strings.HasSuffix(p.Stage, "it is at 0") || p.Peer != toB {
				w.Errorf("%v", p)
			}
		}
		threshold := must(k.Threshold(7, 0, nil))
		w.count(k, steps...)
		if err := k.Increment(1); err != nil {
			w.Fatal(err)
		}
		w.succeed(a, threshold)
		w.succeed(b, message)
		w.same(in, []byte("abcdef"))
		w.same(got, large)
		if was, is := binary.NativeEndian.Uint64(old), binary.NativeEndian.Uint64(win.Bytes()); was != 102 || is != 142 {
			w.Errorf("the atomics have left %d, and %d before", is, was)
		}
		w.counts(k, 7, 0)
		w.succeed(a, must(k.At(7).Iput(nil, toB, h, 0, 0, nil))) // begins at once
	})
}

// TestTriggersOfPuts has the puts of a peer into a window begin messages of its owner.
func TestTriggersOfPuts(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		win, err := b.OpenWindow(make([]byte, 64), mx.WindowWrite)
		if err != nil {
			w.Fatal(err)
		}
		k := w.counter(b)
		if err := k.CountPuts(win); err != nil {
			w.Fatal(err)
		}
		const rounds = 20
		for i := range uint64(rounds) {
			w.count(k, must(k.At(3*i+2).Isend(win.Bytes()[:8], toA, i, nil))) // and each of these is counted too
		}
		for i := range uint64(rounds) {
			answer := make([]byte, 8)
			r := w.irecv(a, answer, i, exact)
			w.succeed(a, w.iput(a, pattern(8, byte(i)), toB, win.Handle(), 0))
			w.pending(a, r)
			w.succeed(a, w.iput(a, pattern(8, byte(i+1)), toB, win.Handle(), 0))
			w.succeed(a, r)
			w.same(answer, pattern(8, byte(i+1)))
		}
		w.counts(k, 3*rounds, 0)
	})
}

// TestTriggerChain has a thousand operations of an endpoint with itself begin one another.
func TestTriggerChain(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		win, err := a.OpenWindow(make([]byte, 8), mx.WindowRead|mx.WindowWrite)
		if err != nil {
			w.Fatal(err)
		}
		const n = 1000
		k, one := w.counter(a), binary.NativeEndian.AppendUint64(nil, 1)
		for i := range uint64(n) {
			w.count(k, must(k.At(n-i).Iatomic(mx.AtomicSum, mx.AtomicUint64, one, a.Addr(), win.Handle(), 0, 0, nil)))
		}
		if err := k.Increment(1); err != nil {
			w.Fatal(err)
		}
		w.counts(k, n+1, 0)
		if got := binary.NativeEndian.Uint64(win.Bytes()); got != n {
			w.Errorf("%d of %d", got, n)
		}
	})
}

func TestTriggeredOperationThatDoesNotBegin(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		k, failing := w.counter(a), w.counter(a)
		w.count(failing, w.irecv(a, make([]byte, 3), 1, exact))
		after := must(failing.At(1).Isend(nil, toB, 1, nil))
		w.succeed(b, w.isend(b, make([]byte, 5), toA, 1))
		w.counts(failing, 0, 1) // truncated
		w.pending(a, after)
		if list := a.Pending(); len(list) != 1 || !strings.HasSuffix(list[0].Stage, "comes to 1: it is at 0, and 1 have failed") {
			w.Errorf("%v", list)
		}
		if taken, err := a.Cancel(after); !taken || err != nil {
			w.Errorf("cancel: %v, %v", taken, err)
		}
		given := must(k.At(1).Isend(make([]byte, 8), toB, 1, nil))
		if p := a.Snapshot().Pending; len(p) != 1 || !p[0].Held || p[0].Kind != "send" || p[0].Stage != a.Pending()[0].Stage {
			w.Errorf("in a snapshot: %+v", p)
		}
		w.abandoned(a, given, mx.FateCancelled)
		late := must(k.At(1).Isend(nil, toB, 1, nil))
		if err := a.SetRequestTimeout(late, time.Millisecond); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, late); st.Code != mx.StatusTimeout {
			w.Errorf("after its timeout: %+v", st)
		}
		begun := must(k.At(1).IsendLevel(mx.SendMatched, nil, toB, 2, nil))
		closed := must(k.At(2).Isend(nil, toB, 3, nil))
		if err := k.Increment(1); err != nil {
			w.Fatal(err)
		}
		if taken, err := a.Cancel(begun); taken || !errors.Is(err, mx.ErrCancelNotSupported) {
			w.Errorf("cancel of what has begun: %v, %v", taken, err)
		}
		k.Close()
		if st := w.done(a, closed); st.Code != mx.StatusAborted {
			w.Errorf("of a counter that is closed: %+v", st)
		}
		w.succeed(b, w.irecv(b, nil, 2, exact))
		w.succeed(a, begun)
		ends := must(failing.At(9).Isend(nil, toB, 4, nil))
		if err := b.Close(); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, ends); st.Code == mx.StatusSuccess || st.Source != toB {
			w.Errorf("of a session that has ended: %+v", st)
		}
		if st := w.done(a, must(failing.At(9).Isend(nil, toB, 4, nil))); st.Code == mx.StatusSuccess {
			w.Errorf("to a session that has ended: %+v", st)
		}
	})
}

func TestTriggersThatAreRefused(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		k := w.counter(a)
		win, err := b.OpenWindow(make([]byte, 64), mx.WindowRead)
		if err != nil {
			w.Fatal(err)
		}
		h := win.Handle()
		refused := func(what string, want error, _ mx.Request, err error) {
			w.Helper()
			if !errors.Is(err, want) {
				w.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		try := func(what string, want error, t mx.Trigger, to mx.EndpointAddr) {
			w.Helper()
			r, err := t.Isend(nil, to, 1, nil)
			refused(what+": send", want, r, err)
			r, err = t.IsendLevel(mx.SendAcked, nil, to, 1, nil)
			refused(what+": send at a level", want, r, err)
			r, err = t.Iput(nil, to, h, 0, 1, nil)
			refused(what+": put", want, r, err)
			r, err = t.Iget(nil, to, h, 0, 1, nil)
			refused(what+": get", want, r, err)
			r, err = t.Iatomic(mx.AtomicSum, mx.AtomicInt8, []byte{1}, to, h, 0, 1, nil)
			refused(what+": atomic", want, r, err)
			r, err = t.IfetchAtomic(mx.AtomicSum, mx.AtomicInt8, []byte{1}, to, h, 0, 1, nil)
			refused(what+": fetch", want, r, err)
		}
		try("an address of another endpoint", mx.ErrBadEndpoint, k.At(1), toA)
		try("no address", mx.ErrBadAddrList, k.At(1), mx.EndpointAddr{})
		try("no trigger", mx.ErrBadRequest, mx.Trigger{}, toB)
		if _, err := (mx.Trigger{}).Isend(nil, toB, 1, nil); err == nil || !strings.Contains(err.Error(), toB.String()) {
			w.Errorf("no trigger: %v does not name %v", err, toB)
		}
		r, err := k.At(1).IsendLevel(9, nil, toB, 1, nil)
		refused("no level", mx.ErrBadParamVal, r, err)
		r, err = k.At(1).IsendLevel(mx.SendAcked, make([][]byte, mx.MaxSegments+1), toB, 1, nil)
		refused("too many segments", mx.ErrBadSegCount, r, err)
		r, err = k.At(1).Iatomic(mx.AtomicXor, mx.AtomicFloat64, make([]byte, 8), toB, h, 0, 1, nil)
		refused("an operation that floats do not have", mx.ErrBadParamVal, r, err)
		r, err = k.At(1).Iatomic(mx.AtomicSum, mx.AtomicInt64, make([]byte, 8), toB, h, 4, 1, nil)
		refused("an offset that is not aligned", mx.ErrBadParamVal, r, err)
		if list := a.Pending(); len(list) != 0 {
			w.Errorf("left: %v", list)
		}
		denied := must(k.At(1).Iput([]byte{1}, toB, h, 0, 1, nil))
		beyond := must(k.At(1).Iget(make([]byte, 8), toB, h, 60, 1, nil))
		none := must(k.At(1).Iget(make([]byte, 8), toB, mx.WindowHandle{}, 0, 1, nil))
		if err := k.Increment(1); err != nil {
			w.Fatal(err)
		}
		for r, want := range map[mx.Request]mx.StatusCode{denied: mx.StatusRDMANotPermitted, beyond: mx.StatusBadRDMARange, none: mx.StatusBadRDMAWindow} {
			if st := w.done(a, r); st.Code != want {
				w.Errorf("%v, want %v", st.Code, want)
			}
		}
		k.Close()
		try("a counter that is closed", mx.ErrBadEndpoint, k.At(1), toB)
		if err := k.Increment(1); !errors.Is(err, mx.ErrBadEndpoint) {
			w.Errorf("increment: %v", err)
		}
	})
}

// TestTriggersInsideHandlers has the handlers of a queue and of unexpected messages increment a counter. The program calls nothing
// besides, so what they trigger has to be begun by whoever has called them.
func TestTriggersInsideHandlers(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		k, q := w.counter(b), w.queue(b)
		if err := q.Handle(func([]mx.Completion) {
			if err := k.Increment(1); err != nil {
				w.Error(err)
			}
		}); err != nil {
			w.Fatal(err)
		}
		const rounds = 10
		for i := range uint64(rounds) {
			w.add(q, w.irecv(b, nil, i, exact))
			w.count(k, must(k.At(2*i+1).Isend(nil, toA, i, nil)))
		}
		for i := range uint64(rounds) {
			answer := w.irecv(a, nil, i, exact)
			time.Sleep(time.Duration(i%3) * 10 * time.Millisecond) // b's own goroutine serves it, or sleeps
			w.succeed(a, w.isend(a, nil, toB, i))
			w.succeed(a, answer)
		}
		if err := b.RegisterUnexpHandler(func(any, mx.EndpointAddr, uint64, uint32, []byte) mx.UnexpAction {
			if err := k.Increment(1); err != nil {
				w.Error(err)
			}
			return mx.RecvFinished
		}, nil); err != nil {
			w.Fatal(err)
		}
		for i := range uint64(rounds) {
			must(k.At(2*rounds+i+1).Isend(nil, toA, i, nil))
			must(k.At(1000).Isend(nil, toA, i, nil)) // is left when the endpoint closes
		}
		for i := range uint64(rounds) {
			answer := w.irecv(a, nil, i, exact)
			w.succeed(a, w.isend(a, nil, toB, 99))
			w.succeed(a, answer)
		}
	})
}
