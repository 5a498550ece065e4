package mx_test

import (
	"context"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

// A closed endpoint answers every call with ErrBadEndpoint, and at once, whether or not its request was complete before.
func TestClosedEndpointRefusesEveryCall(t *testing.T) {
	over(t, func(w *world) { closedRefusesEveryCall(w, false) })
	over(t, func(w *world) { closedRefusesEveryCall(w, true) })
}

func closedRefusesEveryCall(w *world, complete bool) {
	a, b, toB, toA := w.pair()
	nic, id := place(w, b)
	r := w.irecv(a, nil, 1, exact)
	if complete {
		w.isend(b, nil, toA, 1)
		if _, found, err := a.Peek(bound); !found || err != nil {
			w.Fatal(found, err)
		}
	}
	shut(w, a)
	ctx := context.Background()
	calls := map[string]func() error{
		"Isend":                 func() error { _, err := a.Isend(nil, toB, 1, nil); return err },
		"IsendAcked":            func() error { _, err := a.IsendAcked(nil, toB, 1, nil); return err },
		"IsendLevel":            func() error { _, err := a.IsendLevel(mx.SendAcked, nil, toB, 1, nil); return err },
		"Issend":                func() error { _, err := a.Issend(nil, toB, 1, nil); return err },
		"Isendv":                func() error { _, err := a.Isendv(nil, toB, 1, nil); return err },
		"Issendv":               func() error { _, err := a.Issendv(nil, toB, 1, nil); return err },
		"Isend to self":         func() error { _, err := a.Isend(nil, a.Addr(), 1, nil); return err },
		"Irecv":                 func() error { _, err := a.Irecv(nil, 1, exact, nil); return err },
		"Irecvv":                func() error { _, err := a.Irecvv(nil, 1, exact, nil); return err },
		"Ibuffered":             func() error { _, err := a.Ibuffered(r); return err },
		"Test":                  func() error { _, _, err := a.Test(r); return err },
		"Look":                  func() error { _, _, err := a.Look(r); return err },
		"Wait":                  func() error { _, _, err := a.Wait(r, mx.Infinite); return err },
		"Finish":                func() error { return a.Finish(r, mx.Infinite) },
		"WaitContext":           func() error { _, err := a.WaitContext(ctx, r); return err },
		"Ipeek":                 func() error { _, _, err := a.Ipeek(); return err },
		"Peek":                  func() error { _, _, err := a.Peek(mx.Infinite); return err },
		"PeekContext":           func() error { _, _, err := a.PeekContext(ctx); return err },
		"Context":               func() error { _, err := a.Context(r); return err },
		"TestAny":               func() error { _, _, err := a.TestAny(0, 0); return err },
		"WaitAny":               func() error { _, _, err := a.WaitAny(mx.Infinite, 0, 0); return err },
		"WaitAnyContext":        func() error { _, _, err := a.WaitAnyContext(ctx, 0, 0); return err },
		"Iprobe":                func() error { _, _, err := a.Iprobe(0, 0); return err },
		"Probe":                 func() error { _, _, err := a.Probe(mx.Infinite, 0, 0); return err },
		"ProbeContext":          func() error { _, _, err := a.ProbeContext(ctx, 0, 0); return err },
		"Cancel":                func() error { _, err := a.Cancel(r); return err },
		"Forget":                func() error { return a.Forget(r) },
		"Connect":               func() error { _, err := a.Connect(nic, id, testFilter, mx.Infinite); return err },
		"ConnectContext":        func() error { _, err := a.ConnectContext(ctx, nic, id, testFilter); return err },
		"Iconnect":              func() error { _, err := a.Iconnect(nic, id, testFilter, 0, nil); return err },
		"ConnectContexts":       func() error { return a.ConnectContexts(ctx, toB, testFilter) },
		"Disconnect":            func() error { return a.Disconnect(toB) },
		"RegisterUnexpHandler":  func() error { return a.RegisterUnexpHandler(nil, nil) },
		"RegisterUnexpCallback": func() error { return a.RegisterUnexpCallback(func(any, uint64, int) {}, nil) },
		"DisableProgression":    a.DisableProgression,
		"ReenableProgression":   a.ReenableProgression,
		"Progress":              a.Progress,
		"SetRequestTimeout":     func() error { return a.SetRequestTimeout(r, time.Second) },
		"Arm":                   func() error { _, err := a.Arm(); return err },
		"PollFD":                func() error { _, err := a.PollFD(); return err },
		"Close":                 a.Close,
	}
	for name, call := range calls {
		c := start(func() (bool, error) { return false, call() })
		refused(w, receive(w, name, c).err, mx.ErrBadEndpoint, "mx: ", a.String())
		if w.Failed() {
			w.Fatal(name)
		}
	}
}

// What only looks things up works on a closed endpoint too.
func TestClosedEndpointStillAnswersQuestions(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		name := a.String()
		w.succeed(a, w.isend(a, nil, toB, 1))
		w.succeed(b, w.irecv(b, nil, 1, exact))
		shut(w, a)
		within(w, "look-ups", func() {
			a.Wakeup()
			if a.String() != name || a.Addr().String() != name || toB.String() != b.String() {
				w.Error(a, a.Addr(), toB)
			}
			if counter(w, a, "messages sent") != 1 {
				w.Error("the counters are gone")
			}
			_ = a.Diagnostics()
			_ = a.TransportNames()
			if _, _, err := mx.DecomposeEndpointAddr(toB); err != nil {
				w.Error(err)
			}
			for range a.Completions(context.Background(), 0, everything) {
				w.Error("a completion")
			}
			if err := mx.GetInfo(a, mx.CountersCount, 0, new(uint32)); err != nil {
				w.Error(err)
			}
		})
	})
}

// Those whose large messages are under way learn that their peer has closed, not that
// it can't be reached.
func TestCloseUnderLargeMessages(t *testing.T) {
	testlength.Long(t)
	over(t, func(w *world) {
		for range 5 {
			a, b, toB, toA := w.pair()
			const n, size = 6, 3 << 20
			var recvs []mx.Request
			for i := range n {
				w.isend(a, make([]byte, size), toB, uint64(i))
				r, err := b.IrecvFrom(make([]byte, size), toA, uint64(i), exact, nil)
				if err != nil {
					w.Fatal(err)
				}
				recvs = append(recvs, r)
			}
			w.succeed(b, recvs[0])
			shut(w, a)
			for _, r := range recvs[1:] {
				if st := w.done(b, r); st.Code != mx.StatusSuccess && st.Code != mx.StatusEndpointClosed {
					w.Errorf("a receive ended with %v", st.Code)
				}
			}
			shut(w, b)
		}
	})
}
