package endpoint_test

import (
	"errors"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/internal/testlength"
	"gomx/transport/wire"
)

func TestNoAllocationPerAccess(t *testing.T) {
	testlength.Alone(t)
	safe, pull := endpointtest.Reliable(false), endpointtest.Reliable(true)
	for _, c := range []struct {
		name string
		caps wire.Caps
		size int
		cut  bool
		self bool
	}{
		{name: "small", caps: safe, size: 8},
		{name: "small in segments", caps: safe, size: 100, cut: true},
		{name: "pulled", caps: pull, size: 9000},
		{name: "pulled into segments", caps: pull, size: 9000, cut: true},
		{name: "blocks", caps: safe, size: 200000},
		{name: "self", caps: safe, size: 9000, self: true},
		{name: "lossy", caps: endpointtest.Lossy(false), size: 8},
		{name: "lossy blocks", caps: endpointtest.Lossy(false), size: 200000},
		{name: "healing", caps: endpointtest.Healing(false), size: 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, a, b, to := pairOf(t, c.caps)
			if c.self {
				a, to = b, b.Engine.Self()
			}
			id, err := b.Engine.OpenWindow(make([]byte, c.size), endpoint.MayRead|endpoint.MayWrite, 1)
			if err != nil {
				t.Fatal(err)
			}
			v := wire.Vec{First: make([]byte, c.size)}
			if c.cut {
				v = wire.Vec{First: v.First[:c.size/2], Rest: [][]byte{v.First[c.size/2:]}}
			}
			once := func() { putAndGet(t, w, a, to, id, v) }
			for range 300 {
				once()
			}
			if n := testing.AllocsPerRun(100, once); n != 0 {
				t.Errorf("%v allocations per put and get", n)
			}
		})
	}
}

func putAndGet(t *testing.T, w *endpointtest.World, a *endpointtest.Node, to endpoint.Addr, id uint64, v wire.Vec) {
	if _, err := a.Engine.Write(v.First, to, id, 0); err != nil {
		t.Fatal(err)
	}
	put, err := a.Engine.Put(v, to, id, 0, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	get, err := a.Engine.Get(v, to, id, 0, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Run()
	w.Tick(5)
	w.Run()
	var st endpoint.Status
	for n, h := range [...]endpoint.Handle{put, get} {
		if done, err := a.Engine.Test(h, &st); !done || err != nil || st.Code != endpoint.Success {
			t.Fatal("request", n, done, err, st.Code)
		}
	}
}

// A side may have 256 gets and large puts under way; what exceeds that costs a
// dishonest peer its answers, and us nothing.
func TestAccessesUnderWayAreBounded(t *testing.T) {
	w, a, b, _ := pairOf(t, endpointtest.Reliable(false))
	id, err := b.Engine.OpenWindow(make([]byte, 9000), endpoint.MayRead|endpoint.MayWrite, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.Lane(b, a).Capacity = 1
	w.Lane(b, a).Queue = append(w.Lane(b, a).Queue, new(endpointtest.Frame)) // it is full
	for i := range uint32(1000) {
		h := wire.Header{
			Kind: wire.Get, Flags: wire.HasID | wire.HasRange, Match: id, ID: 7, Total: 100, Seq: 1 + i, Session: 1,
		}
		if i%2 == 0 {
			h.Kind, h.Total = wire.PutOffer, 9000
		}
		b.Engine.Frame(b.PeerOf(a), &h, nil)
		if n := b.Engine.Depths().Requests; n != int(1+i)%257 {
			t.Fatalf("%d requests after %d puts and gets", n, 1+i)
		}
		if i == 256 {
			break
		}
	}
	if c := b.Engine.Counters(); c.WindowBroken != 1 || c.Malformed != 0 {
		t.Errorf("%d peers given up, %d frames counted as malformed", c.WindowBroken, c.Malformed)
	}
	if !b.Engine.CloseWindow(id) || b.Engine.WindowBusy(id) || b.Engine.Depths().Requests != 0 {
		t.Errorf("the closed window is in use:\n%s", b.Engine.DumpState())
	}
}

// TestAnswersThatWaitAreBounded has a peer put small amounts, one after the other, and
// read no answer.
func TestAnswersThatWaitAreBounded(t *testing.T) {
	w, a, b, _ := pairOf(t, endpointtest.Reliable(false))
	id, err := b.Engine.OpenWindow(make([]byte, 8), endpoint.MayWrite, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.Lane(b, a).Capacity = 1
	w.Lane(b, a).Queue = append(w.Lane(b, a).Queue, new(endpointtest.Frame)) // it is full
	for i := range uint32(257) {
		if c := b.Engine.Counters(); c.WindowBroken != 0 {
			t.Fatalf("given up after %d puts", i)
		}
		b.Engine.Frame(b.PeerOf(a), &wire.Header{
			Kind: wire.Put, Flags: wire.HasID | wire.HasRange, Match: id, ID: 7, Length: 8, Total: 8, Seq: 1 + i, Session: 1,
		}, make([]byte, 8))
	}
	if c := b.Engine.Counters(); c.WindowBroken != 1 {
		t.Errorf("%d peers given up", c.WindowBroken)
	}
}

func TestWindowLimits(t *testing.T) {
	e := endpoint.New(endpoint.Config{}, new(endpointtest.World).Add("a", endpoint.Config{}))
	names := map[uint64]bool{}
	for i := range endpoint.MaxWindows {
		id, err := e.OpenWindow(nil, endpoint.MayRead, 0)
		if err != nil || id == 0 || names[id] {
			t.Fatalf("window %d is called %#x, %v", i, id, err)
		}
		names[id] = true
	}
	if _, err := e.OpenWindow(nil, endpoint.MayRead, 0); !errors.Is(err, endpoint.ErrNoResources) {
		t.Errorf("one window more: %v, want ErrNoResources", err)
	}
	for id := range names {
		if !e.CloseWindow(id) || e.CloseWindow(id) || e.WindowBusy(id) {
			t.Fatalf("window %#x does not close", id)
		}
		again, err := e.OpenWindow(nil, endpoint.MayRead, id>>16)
		if err != nil || names[again] {
			t.Fatalf("the place of window %#x is given away as %#x, %v", id, again, err)
		}
		break
	}
}

// slowLink keeps the memory of pull data until Reclaim, as links that retain may.
type slowLink struct {
	caps wire.Caps
	lent []*wire.Vec
	sent []wire.Header
}

func (l *slowLink) Caps() *wire.Caps { return &l.caps }

func (l *slowLink) Send(h *wire.Header, v *wire.Vec, _ int) bool {
	l.sent = append(l.sent, *h)
	if h.Kind == wire.PullData {
		l.lent = append(l.lent, v)
	}
	return true
}

func (l *slowLink) Reclaim() { l.lent = nil }

func (l *slowLink) Export(dst []byte, _ *wire.Vec) ([]byte, uint64) { return dst, 0 }

func (l *slowLink) Unexport(uint64, bool) {}

func (l *slowLink) Pull([]byte, *wire.Vec, int, uint64) wire.PullResult { return wire.PullFailed }

// Two gets are answered by pipelined rendezvous, and the window of the first is closed: the link
// must let go of that as well, though it was sent from before the other.
func TestClosedWindowIsReclaimed(t *testing.T) {
	e := endpoint.New(endpoint.Config{NIC: 1, Session: 1}, new(endpointtest.World).Add("a", endpoint.Config{}))
	l := &slowLink{caps: endpointtest.Reliable(false)}
	peer := e.LinkOwner(2, 0, l, false)
	l.caps.Retains = true
	e.LinkUp(peer, l, false)
	c := wire.ConnectInfo{Version: wire.Version, Session: 1, NIC: 2}
	e.Frame(peer, &wire.Header{Kind: wire.Connect, Length: wire.ConnectSize}, c.Append(nil))
	var windows []uint64
	for i := range uint32(2) {
		id, err := e.OpenWindow(make([]byte, 5000), endpoint.MayRead, 1)
		if err != nil {
			t.Fatal(err)
		}
		windows = append(windows, id)
		h := wire.Header{
			Kind: wire.Get, Flags: wire.HasID | wire.HasRange, Match: id, ID: 7, Total: 5000, Seq: 1 + i, Session: 1,
		}
		e.Frame(peer, &h, nil)
		offer := l.sent[len(l.sent)-1]
		e.Frame(peer, &wire.Header{
			Kind: wire.PullRequest, Flags: wire.HasID | wire.HasRange, Match: 1, Seq: 1000, Session: 1, ID: offer.ID, Total: 5000,
		}, nil)
		if offer.Kind != wire.GetOffer || len(l.lent) != 5*int(i+1) {
			t.Fatalf("%v is answered with %v, and %d frames", h.Kind, offer.Kind, len(l.lent))
		}
	}
	if e.CloseWindow(windows[0]); len(l.lent) > 0 {
		t.Errorf("the link still reads memory of the closed window")
	}
}
