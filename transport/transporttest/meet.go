package transporttest

import (
	"context"
	"errors"
	"testing"

	"gomx/transport"
	"gomx/transport/wire"
)

func patienceContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

func testClaim(t *testing.T, w *world) {
	a := w.open(0)
	again := transport.Open{Self: a.address, Session: 1, Events: a, Bell: a.bell}
	if _, err := w.medium.Open(again); !errors.Is(err, transport.ErrBusy) {
		t.Fatalf("second claim of %v: %v, want ErrBusy", a.address, err)
	}
	w.open(1)
	if err := a.port.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	w.open(0)
}

func testDialNobody(t *testing.T, w *world) {
	a := w.open(0)
	ctx, cancel := patienceContext()
	defer cancel()
	if _, err := a.port.Dial(ctx, w.address(9)); !errors.Is(err, transport.ErrNoPeer) {
		t.Errorf("dial of an endpoint not open: %v, want ErrNoPeer", err)
	}
	w.open(1)
	cancel()
	if _, err := a.port.Dial(ctx, w.address(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("dial with an ended context: %v, want context.Canceled", err)
	}
}

func testDialAfterClose(t *testing.T, w *world) {
	a, b := w.open(0), w.open(1)
	ctx, cancel := patienceContext()
	defer cancel()
	b.port.Close()
	if _, err := a.port.Dial(ctx, b.address); !errors.Is(err, transport.ErrNoPeer) {
		t.Errorf("dial of a closed endpoint: %v, want ErrNoPeer", err)
	}
	a.port.Close()
	if _, err := a.port.Dial(ctx, b.address); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("dial from a closed endpoint: %v, want ErrClosed", err)
	}
	if n := a.poll(); n != 0 {
		t.Errorf("a closed port delivered %d frames", n)
	}
}

func testAccept(t *testing.T, w *world) {
	a, b := w.pair()
	for _, c := range []struct{ near, far *end }{{a, b}, {b, a}} {
		address, session := c.near.link.Peer()
		if address != c.far.address || session != c.far.session {
			t.Errorf("peer of %v is %v session %#x, want %v session %#x",
				c.near.address, address, session, c.far.address, c.far.session)
		}
	}
	if a.nextAccepted() != nil || b.nextAccepted() != nil {
		t.Error("one dial gave more than one accepted link")
	}
	for _, e := range []*end{a, b} {
		for _, diagnostic := range e.port.Diagnostics() {
			if diagnostic.Name == "" || diagnostic.Value == "" {
				t.Errorf("empty diagnostic %+v", diagnostic)
			}
		}
		checkCaps(t, e.link.Caps())
	}
}

func checkCaps(t *testing.T, c *wire.Caps) {
	t.Helper()
	if c.Name == "" || c.MaxFrame < wire.ConnectSize+wire.MaxContextNames+wire.MaxConnectData || c.Eager < 0 || c.Eager > c.MaxFrame || c.MaxPullFrame < 0 {
		t.Errorf("capabilities make no sense: %+v", *c)
	}
}

func testBindGating(t *testing.T, w *world) {
	a, b := w.pair()
	a.link.Bind(1)
	var got []uint32
	b.take = func(peer int32, h *wire.Header, _ []byte) bool {
		if peer != 77 {
			t.Errorf("frame of peer %d, want 77", peer)
		}
		got = append(got, h.Seq)
		return true
	}
	for seq := range uint32(5) {
		a.send(&wire.Header{Kind: wire.Eager, Seq: seq}, &wire.Vec{}, 0)
	}
	for range 100 {
		w.pollAll()
	}
	if len(got) != 0 {
		t.Fatalf("%d frames came before Bind", len(got))
	}
	b.link.Bind(77)
	w.await("the frames sent before Bind", func() bool { return len(got) == 5 })
	for i, seq := range got {
		if seq != uint32(i) {
			t.Fatalf("order %v", got)
		}
	}
}

// testSimultaneousDial lets both sides dial at once. Whether the medium settles
// on one link or keeps two, what is sent on any of them must arrive.
func testSimultaneousDial(t *testing.T, w *world) {
	a, b := w.open(0), w.open(1)
	errs := make(chan error, 2)
	for _, c := range []struct{ near, far *end }{{a, b}, {b, a}} {
		go func() {
			ctx, cancel := patienceContext()
			defer cancel()
			var err error
			c.near.link, err = c.near.port.Dial(ctx, c.far.address)
			errs <- err
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatalf("dial: %v", err)
		}
	}
	got := [2]bool{}
	for i, e := range []*end{a, b} {
		e.link.Bind(int32(1 - i))
		e.take = func(peer int32, h *wire.Header, _ []byte) bool {
			if peer != int32(1-i) || h.Seq != uint32(1-i) {
				t.Errorf("endpoint %d got frame %d of peer %d", i, h.Seq, peer)
			}
			got[i] = true
			return true
		}
	}
	round := 0
	w.await("frames on both dialled links", func() bool {
		for i, e := range []*end{a, b} {
			for l := e.nextAccepted(); l != nil; l = e.nextAccepted() {
				l.Bind(int32(1 - i))
			}
			// Sent again now and then, since the medium may lose it.
			if round == 0 || !e.link.Caps().Reliable {
				e.link.Send(&wire.Header{Kind: wire.Eager, Seq: uint32(i)}, &wire.Vec{}, 0)
			}
		}
		round++
		return got[0] && got[1]
	})
}
