package transporttest

import (
	"sync/atomic"
	"testing"

	"gomx/transport/wire"
)

// testFrames sends the parcels until each has arrived, over a medium that loses
// as often as that takes, and checks all that arrives.
func testFrames(t *testing.T, w *world) {
	a, b := w.boundPair()
	caps := a.link.Caps()
	all := parcels(caps.MaxFrame)
	arrived := make([]int, len(all))
	missing, next := len(all), uint32(0)
	b.take = func(peer int32, h *wire.Header, payload []byte) bool {
		if peer != 0 {
			t.Fatalf("frame of peer %d, want 0", peer)
		}
		if h.Seq >= uint32(len(all)) || caps.Ordered && caps.Reliable && h.Seq != next {
			t.Fatalf("frame %d arrived, want %d", h.Seq, next)
		}
		all[h.Seq].check(t, h, payload)
		if next++; arrived[h.Seq] == 0 {
			missing--
		}
		arrived[h.Seq]++
		return true
	}
	for round := 0; missing > 0 && round < 100; round++ {
		for i := range all {
			if arrived[i] > 0 {
				continue
			}
			h, list := all[i].dirty(), all[i].vec()
			if h.Length == 0 && i%2 == 0 {
				list = nil // what has no payload needs no list
			}
			a.send(&h, list, all[i].off)
		}
		drain(w, caps, &missing)
	}
	if missing > 0 {
		t.Fatalf("%d frames never arrived", missing)
	}
}

// drain waits for what is under way: for all of it if the medium is reliable.
func drain(w *world, caps *wire.Caps, missing *int) {
	w.t.Helper()
	if caps.Reliable {
		w.await("the frames", func() bool { return *missing == 0 })
		return
	}
	for range 1000 {
		w.pollAll()
	}
}

// testSendCopies changes header and payload after Send has returned true.
func testSendCopies(t *testing.T, w *world) {
	a, b := w.boundPair()
	p := parcel{header: header(1, wire.Eager, wire.HasID, 200), segments: 2}
	got := false
	b.take = func(_ int32, h *wire.Header, payload []byte) bool {
		p.check(t, h, payload)
		got = true
		return true
	}
	w.await("the frame", func() bool {
		if h, v := p.header, p.vec(); a.link.Send(&h, v, p.off) {
			h = wire.Header{}
			clear(v.First)
			clear(v.Rest[0])
		}
		return got
	})
}

// testPayloadStays sends on while a handler looks at its frame. As the payload
// is the handler's until it returns, nothing may change in it.
func testPayloadStays(t *testing.T, w *world) {
	a, b := w.boundPair()
	const total = 300
	sent, got := 0, 0
	fill := func() {
		for ; sent < total; sent++ {
			p := parcel{header: header(uint32(sent), wire.Eager, 0, 700), segments: 1}
			if !a.link.Send(&p.header, p.vec(), 0) {
				return
			}
		}
	}
	b.take = func(_ int32, h *wire.Header, payload []byte) bool {
		fill()
		p := parcel{header: header(uint32(got), wire.Eager, 0, 700)}
		p.check(t, h, payload)
		got++
		return true
	}
	w.await("all frames", func() bool { fill(); return got == total })
}

// testBackPressure fills the medium until it takes no more, twice, and reads it
// empty afterwards.
func testBackPressure(t *testing.T, w *world) {
	const size, limit = 512, 1 << 20
	a, b := w.boundPair()
	sent, got := uint32(0), uint32(0)
	b.take = func(_ int32, h *wire.Header, payload []byte) bool {
		p := parcel{header: header(got, wire.Eager, 0, size)}
		p.check(t, h, payload)
		got++
		return true
	}
	list := &wire.Vec{First: make([]byte, size)}
	for range 2 {
		for full := false; !full; {
			content(list.First, sent)
			h := header(sent, wire.Eager, 0, size)
			if full = !a.link.Send(&h, list, 0); !full {
				sent++
			}
			if sent-got > limit {
				t.Fatalf("%d frames lie unread and the medium still takes more", sent-got)
			}
		}
		w.await("the frames", func() bool { return got == sent })
	}
	if sent == 0 {
		t.Fatal("the medium took nothing")
	}
	for range 100 {
		w.pollAll()
	}
	if got != sent {
		t.Fatalf("%d frames sent, %d arrived", sent, got)
	}
}

// testStops has the handler want nothing more, now and then. Such a frame counts as
// taken, no other of any link comes in the same poll, and the next poll goes on.
func testStops(t *testing.T, w *world) {
	a, b := w.boundPair()
	c := w.open(2)
	c.dial(b)
	c.link.Bind(1)
	b.awaitAccepted().Bind(2)

	const total = 12
	var got [3]uint32
	stopped := false
	b.take = func(peer int32, h *wire.Header, payload []byte) bool {
		if stopped {
			t.Fatalf("frame %d of peer %d comes in a poll that was to deliver nothing more", h.Seq, peer)
		}
		p := parcel{header: header(got[peer], wire.Eager, 0, 100)}
		p.check(t, h, payload)
		got[peer]++
		stopped = got[peer]%3 == 0
		return !stopped
	}
	for seq := range uint32(total) {
		for _, e := range []*end{a, c} {
			p := parcel{header: header(seq, wire.Eager, 0, 100), segments: 1}
			w.await("room for a frame", func() bool { stopped = false; return e.link.Send(&p.header, p.vec(), 0) })
		}
	}
	w.await("all frames", func() bool { stopped = false; return got[0] == total && got[2] == total })
}

// testBothDirections sends both ways at once, each end in a goroutine of its own.
func testBothDirections(t *testing.T, w *world) {
	a, b := w.boundPair()
	const total = 2000
	errs := make(chan string, 2)
	var talking atomic.Int32
	talking.Store(2)
	for _, e := range []*end{a, b} {
		go func() { errs <- e.converse(total, &talking) }()
	}
	for range 2 {
		if err := <-errs; err != "" {
			t.Error(err)
		}
	}
}
