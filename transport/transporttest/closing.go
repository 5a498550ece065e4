package transporttest

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

func testCloseThenDown(t *testing.T, w *world) {
	a, b := w.boundPair()
	downAfter(t, w, a, b, func() { a.port.Close() })
	if _, err := a.port.Dial(t.Context(), b.address); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("dial from a closed port: %v, want ErrClosed", err)
	}
}

func testLinkCloseThenDown(t *testing.T, w *world) {
	a, b := w.boundPair()
	downAfter(t, w, a, b, a.link.Close)
	a.dial(b)
	if again := b.awaitAccepted(); again == b.link {
		t.Error("a new dial gave the dead link again")
	}
}

// testCloseBeforeBind: frames that wait for Bind are not lost when the peer
// closes, nor does Down overtake them.
func testCloseBeforeBind(t *testing.T, w *world) {
	a, b := w.pair()
	a.link.Bind(1)
	for seq := range uint32(5) {
		a.send(&wire.Header{Kind: wire.Eager, Seq: seq}, &wire.Vec{}, 0)
	}
	a.port.Close()
	for range 100 {
		w.pollAll()
	}
	if downs := b.allDowns(); len(downs) != 0 {
		t.Fatalf("Down (%v) before the frames could be read", downs[0].reason)
	}
	b.link.Bind(0)
	w.await("Down", func() bool { return len(b.allDowns()) > 0 })
	if d := b.allDowns()[0]; d.frames != 5 {
		t.Errorf("Down after %d frames, want 5", d.frames)
	}
}

// testEndBeforeBind: the end of a link is not reported before Bind. Whoever has dialled knows the link only when Dial has returned, and the peer may
// be gone again by then.
func testEndBeforeBind(t *testing.T, w *world) {
	a, b := w.pair()
	b.link.Bind(0)
	b.port.Close()
	for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; {
		w.pollAll()
	}
	if downs := a.allDowns(); len(downs) != 0 {
		t.Fatalf("Down (%v) before Bind", downs[0].reason)
	}
	a.link.Bind(1)
	w.await("Down", func() bool { return len(a.allDowns()) > 0 })
}

// downAfter checks that b gets what a sent before it closed, then one Down.
func downAfter(t *testing.T, w *world, a, b *end, closeLink func()) {
	t.Helper()
	const total = 20
	b.take = func(_ int32, h *wire.Header, payload []byte) bool {
		p := parcel{header: header(uint32(b.frames), wire.Eager, 0, 300)}
		p.check(t, h, payload)
		return true
	}
	for seq := range uint32(total) {
		p := parcel{header: header(seq, wire.Eager, 0, 300), segments: 3}
		a.send(&p.header, p.vec(), 0)
	}
	closeLink()
	w.await("Down", func() bool { return len(b.allDowns()) > 0 })
	for range 100 {
		w.pollAll()
	}
	downs := b.allDowns()
	if len(downs) != 1 || downs[0].link != b.link || downs[0].frames != total {
		t.Fatalf("downs %+v, want one of the bound link after %d frames", downs, total)
	}
	if r := downs[0].reason; !errors.Is(r, transport.ErrClosed) && !errors.Is(r, transport.ErrPeerDied) {
		t.Errorf("reason %v, want ErrClosed or ErrPeerDied", r)
	}
	if len(a.allDowns()) != 0 {
		t.Error("the side that closed was told Down")
	}
	if !b.port.Quiet() {
		t.Error("not quiet after Down")
	}
	b.link.Close()
}

func testCloseTwice(t *testing.T, w *world) {
	a, b := w.boundPair()
	a.link.Close()
	a.link.Close()
	b.link.Close()
	for _, e := range []*end{a, b} {
		if err := e.port.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := e.port.Close(); err != nil && !errors.Is(err, transport.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
	}
	w.open(0)
	a.port.Close()
	if _, err := w.medium.Open(transport.Open{Self: a.address, Events: a, Bell: a.bell}); !errors.Is(err, transport.ErrBusy) {
		t.Errorf("closing a port again gave away its successor's address: %v", err)
	}
}

// testSendAfterClose sends to a peer that is gone, and from a port that is
// closed. Whatever Send answers, it neither panics nor blocks.
func testSendAfterClose(t *testing.T, w *world) {
	a, b := w.boundPair()
	list := &wire.Vec{First: make([]byte, 100)}
	send := func() {
		for range 1000 {
			a.link.Send(&wire.Header{Kind: wire.Eager, Length: 100}, list, 0)
		}
	}
	b.port.Close()
	send()
	for range 100 {
		a.poll()
	}
	send()
	a.link.Close()
	send()
	a.port.Close()
	send()
}

func testNoGoroutineLeft(t *testing.T, w *world) {
	before := runtime.NumGoroutine()
	a, b := w.boundPair()
	a.send(&wire.Header{Kind: wire.Eager}, &wire.Vec{}, 0)
	w.pollAll()
	c := w.open(2)
	c.dial(a)
	for _, e := range []*end{a, b, c} {
		e.port.Close()
		e.bell.Close()
	}
	for begin := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(begin) > patience {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s",
				runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func testNoAllocations(t *testing.T, w *world) {
	a, b := w.boundPair()
	reliable := a.link.Caps().Reliable
	list := &wire.Vec{First: make([]byte, 64)}
	h := wire.Header{Kind: wire.Eager, Length: 64}
	pass := func() {
		want := b.frames + 1
		for !a.link.Send(&h, list, 0) {
			a.poll()
			b.poll()
		}
		for b.poll(); reliable && b.frames < want; b.poll() {
			a.poll()
		}
	}
	for range 2000 {
		pass()
	}
	if n := testing.AllocsPerRun(2000, pass); n != 0 {
		t.Errorf("%v allocations for a frame of 64 bytes, want 0", n)
	}
}
