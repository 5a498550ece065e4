package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/internal/testlength"
	"gomx/match"
	"gomx/transport/wire"
)

// pairOf returns two connected endpoints.
func pairOf(tb testing.TB, caps wire.Caps) (w *endpointtest.World, a, b *endpointtest.Node, toB endpoint.Addr) {
	tb.Helper()
	w = &endpointtest.World{Caps: caps}
	cfg := endpoint.Config{Session: 1, EagerLimit: -1, CopyLimit: -1}
	a, b = w.Add("a", cfg), w.Add("b", cfg)
	h := a.Connect(b, 0, 0)
	w.Run()
	var st endpoint.Status
	if done, err := a.Engine.Test(h, &st); !done || st.Code != endpoint.Success {
		tb.Fatal("connect:", done, err, st.Code)
	}
	return w, a, b, st.Source
}

func TestNoAllocationPerMessage(t *testing.T) {
	testlength.Alone(t)
	safe, pull, lossy := endpointtest.Reliable(false), endpointtest.Reliable(true), endpointtest.Lossy(false)
	for _, c := range []struct {
		name       string
		caps       wire.Caps
		size       int
		level      endpoint.Level
		unexpected bool
		self       bool
		handler    bool
	}{
		{name: "eager", caps: safe, size: 8},
		{name: "eager unexpected", caps: safe, size: 8, unexpected: true},
		{name: "eager unexpected 2000", caps: safe, size: 2000, unexpected: true},
		{name: "handler", caps: safe, size: 8, unexpected: true, handler: true},
		{name: "sync", caps: safe, size: 8, level: endpoint.Matched},
		{name: "sync unexpected", caps: safe, size: 8, level: endpoint.Matched, unexpected: true},
		{name: "pull", caps: pull, size: 9000},
		{name: "pull unexpected", caps: pull, size: 9000, unexpected: true},
		{name: "blocks", caps: safe, size: 200000},
		{name: "blocks unexpected", caps: safe, size: 200000, unexpected: true},
		{name: "self", caps: safe, size: 8, self: true},
		{name: "self unexpected", caps: safe, size: 8, self: true, unexpected: true},
		{name: "self large unexpected", caps: safe, size: 9000, self: true, unexpected: true},
		{name: "lossy", caps: lossy, size: 8},
		{name: "acknowledged", caps: safe, size: 8, level: endpoint.Acknowledged},
		{name: "acknowledged unexpected", caps: safe, size: 8, level: endpoint.Acknowledged, unexpected: true},
		{name: "lossy sync", caps: lossy, size: 8, level: endpoint.Matched},
		{name: "lossy blocks", caps: lossy, size: 200000},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, a, b, to := pairOf(t, c.caps)
			from := a
			if c.self {
				from, to = b, b.Engine.Self()
			}
			b.Engine.SetHandler(c.handler)
			src, dst := wire.Vec{First: make([]byte, c.size)}, wire.Vec{First: make([]byte, c.size)}
			once := func() { exchange(t, w, from, b, to, src, dst, c.level, c.unexpected) }
			for range 300 {
				once()
			}
			if n := testing.AllocsPerRun(100, once); n != 0 {
				t.Errorf("%v allocations per message", n)
			}
		})
	}
}

func exchange(t *testing.T, w *endpointtest.World, a, b *endpointtest.Node, to endpoint.Addr, src, dst wire.Vec, level endpoint.Level, unexpected bool) {
	var recv endpoint.Handle
	if !unexpected {
		recv, _ = b.Engine.Recv(&endpoint.Posting{First: dst.First, Value: 1, Mask: match.MaskNone}, &endpoint.RecvOptions{Rest: dst.Rest})
	}
	send, err := a.Engine.Send(&endpoint.Outgoing{First: src.First, To: to, Match: 1}, &endpoint.SendOptions{Rest: src.Rest, Level: level})
	if err != nil {
		t.Fatal(err)
	}
	w.Run()
	if unexpected {
		recv, _ = b.Engine.Recv(&endpoint.Posting{First: dst.First, Value: 1, Mask: match.MaskNone}, &endpoint.RecvOptions{Rest: dst.Rest})
		w.Run()
	}
	w.Tick(5)
	w.Run()
	var st endpoint.Status
	for n, h := range [...]endpoint.Handle{send, recv} {
		e := a.Engine
		if n == 1 {
			e = b.Engine
		}
		if done, err := e.Test(h, &st); !done || err != nil || st.Code != endpoint.Success {
			t.Fatal("request", n, done, err, st.Code)
		}
	}
}
