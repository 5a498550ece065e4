package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/transport/wire"
)

func TestNoAllocationPerAtomic(t *testing.T) {
	for _, c := range []struct {
		name   string
		caps   wire.Caps
		self   bool
		narrow bool // so that answers wait
	}{
		{name: "safe", caps: endpointtest.Reliable(false)},
		{name: "self", caps: endpointtest.Reliable(false), self: true},
		{name: "lossy", caps: endpointtest.Lossy(false)},
		{name: "healing", caps: endpointtest.Healing(false)},
		{name: "narrow", caps: endpointtest.Reliable(false), narrow: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, a, b, to := pairOf(t, c.caps)
			if c.self {
				a, to = b, b.Engine.Self()
			}
			if c.narrow {
				w.Lane(b, a).Capacity = 1
			}
			id, err := b.Engine.OpenWindow(make([]byte, 8), endpoint.MayRead|endpoint.MayWrite, 1)
			if err != nil {
				t.Fatal(err)
			}
			bufs := [3][]byte{make([]byte, 8), make([]byte, 8), make([]byte, 8)}
			once := func() { addThrice(t, w, a, to, id, &bufs) }
			for range 300 {
				once()
			}
			if n := testing.AllocsPerRun(100, once); n != 0 {
				t.Errorf("%v allocations per atomic", n)
			}
		})
	}
}

func addThrice(t *testing.T, w *endpointtest.World, a *endpointtest.Node, to endpoint.Addr, id uint64, bufs *[3][]byte) {
	what := wire.AtomicWhat{Op: wire.AtomicSum, Type: wire.AtomicInt64}
	if _, err := a.Engine.AtomicNow(what, bufs[0], to, id, 0); err != nil {
		t.Fatal(err)
	}
	var handles [3]endpoint.Handle
	for i := range handles {
		what.Fetch = i > 0
		var err error
		if handles[i], err = a.Engine.Atomic(what, bufs[i], to, id, 0, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.Run()
	for _, h := range handles {
		var st endpoint.Status
		if done, err := a.Engine.Test(h, &st); !done || err != nil || st.Code != endpoint.Success {
			t.Fatal(done, err, st)
		}
	}
}
