package mem_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

func TestCloseAndKillTellTheReason(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*mem.Port)
		want error
	}{
		{"close", func(p *mem.Port) { p.Close() }, transport.ErrClosed},
		{"kill", (*mem.Port).Kill, transport.ErrPeerDied},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b, toB, _, bEvents := pair(t, mem.NewNetwork(mem.Options{}))
			numbered(toB, 0, 3)
			c.end(a)
			if got := collect(b, 5); len(got) != 3 {
				t.Errorf("frames %v before the end, want 3", got)
			}
			if reason := <-bEvents.downs; !errors.Is(reason, c.want) {
				t.Errorf("reason %v, want %v", reason, c.want)
			}
		})
	}
}

func TestUnboundFramesAreNotThereToBePolled(t *testing.T) {
	n := mem.NewNetwork(mem.Options{})
	a, aEvents := open(t, n, 0)
	b, _ := open(t, n, 1)
	toA, err := b.Dial(t.Context(), address(0))
	if err != nil {
		t.Fatal(err)
	}
	numbered(toA, 0, 1)
	if !a.Quiet() {
		t.Error("not quiet before Bind, although nothing can be polled")
	}
	aEvents.takeAccepted()[0].Bind(5)
	if a.Quiet() {
		t.Error("quiet after Bind, although a frame waits")
	}
}

func TestDialOneself(t *testing.T) {
	a, aEvents := open(t, mem.NewNetwork(mem.Options{}), 0)
	near, err := a.Dial(t.Context(), address(0))
	if err != nil {
		t.Fatal(err)
	}
	far := aEvents.takeAccepted()[0]
	near.Bind(0)
	far.Bind(0)
	numbered(near, 0, 1)
	numbered(far, 1, 1)
	if got := collect(a, 2); len(got) != 2 {
		t.Errorf("frames %v, want two", got)
	}
}

func TestPullAfterUnexportFails(t *testing.T) {
	_, _, toB, toA, _ := pair(t, mem.NewNetwork(mem.Options{}))
	src, dst := &wire.Vec{First: []byte("abcdef")}, &wire.Vec{First: make([]byte, 6)}
	old, token := toB.Export(nil, src)
	if got := toA.Pull(old, dst, 6, 0); got != wire.PullDone || string(dst.First) != "abcdef" {
		t.Fatalf("pull: %v, %q", got, dst.First)
	}
	if got := toA.Pull(old, dst, 7, 0); got != wire.PullFailed {
		t.Errorf("pull of more than there is: %v", got)
	}
	toB.Unexport(token, false)
	toB.Unexport(token, false)
	current, _ := toB.Export(nil, &wire.Vec{First: []byte("secret")})
	if bytes.Equal(old, current) {
		t.Error("a token was given out twice")
	}
	for _, desc := range [][]byte{old, nil, current[:7], bytes.Repeat([]byte{0xff}, len(current))} {
		if got := toA.Pull(desc, dst, 6, 0); got != wire.PullFailed {
			t.Errorf("pull by %x: %v, want PullFailed", desc, got)
		}
	}
	toB.Close()
	if got := toA.Pull(current, dst, 6, 0); got != wire.PullFailed {
		t.Errorf("pull from a closed link: %v, want PullFailed", got)
	}
	if string(dst.First) != "abcdef" {
		t.Errorf("failed pulls left %q", dst.First)
	}
}

func TestPoisonUncoversKeptPayloads(t *testing.T) {
	_, b, toB, _, _ := pair(t, mem.NewNetwork(mem.Options{Poison: true}))
	var kept []byte
	toB.Send(&wire.Header{Kind: wire.Eager, Length: 4}, &wire.Vec{First: []byte("good")}, 0)
	b.Poll(handler(func(_ int32, _ *wire.Header, payload []byte) bool { kept = payload; return true }))
	if string(kept) != "\xdb\xdb\xdb\xdb" {
		t.Errorf("the kept payload reads %q", kept)
	}
}

func TestReliableCutHoldsBack(t *testing.T) {
	n := mem.NewNetwork(mem.Options{})
	a, b, toB, toA, bEvents := pair(t, n)
	numbered(toB, 0, 2)
	n.SetCut(address(1), address(0), true)
	numbered(toB, 2, 2)
	desc, _ := toB.Export(nil, &wire.Vec{First: []byte("x")})
	if got := toA.Pull(desc, &wire.Vec{First: make([]byte, 1)}, 1, 0); got != wire.PullFailed {
		t.Errorf("pull across a cut: %v", got)
	}
	if _, err := b.Dial(t.Context(), address(0)); !errors.Is(err, transport.ErrNoRoute) {
		t.Errorf("dial across a cut: %v, want ErrNoRoute", err)
	}
	a.Close()
	if got := collect(b, 3); len(got) != 0 || !b.Quiet() || len(bEvents.downs) != 0 {
		t.Errorf("frames %v crossed the cut", got)
	}
	n.SetCut(address(0), address(1), false)
	if got := collect(b, 3); !slices.Equal(got, []uint32{0, 1, 2, 3}) {
		t.Errorf("after the cut came %v", got)
	}
	<-bEvents.downs
}

func TestBadOptionsPanic(t *testing.T) {
	for _, o := range []mem.Options{
		{Depth: -1}, {MaxFrame: -1}, {MaxFrame: 100, Eager: 101},
		{Faults: mem.Faults{Drop: 1.1}}, {Faults: mem.Faults{Reorder: -0.1}}, {Faults: mem.Faults{MaxDelay: -1}},
	} {
		mustPanic(t, func() { mem.NewNetwork(o) })
	}
}

func TestWrongFramesPanic(t *testing.T) {
	_, _, toB, _, _ := pair(t, mem.NewNetwork(mem.Options{MaxFrame: 100}))
	list := &wire.Vec{First: make([]byte, 101)}
	mustPanic(t, func() { toB.Send(&wire.Header{Kind: wire.Eager, Length: 101}, list, 0) })
	mustPanic(t, func() { toB.Send(&wire.Header{Kind: wire.Eager, Length: 100}, list, 2) })
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

// TestManyEndpoints lets endpoints that live in goroutines of their own all
// dial one another and send to one another.
func TestManyEndpoints(t *testing.T) {
	const ends, total = 6, 300
	n := mem.NewNetwork(mem.Options{Depth: 16})
	ports, evs := make([]*mem.Port, ends), make([]*events, ends)
	for i := range ports {
		ports[i], evs[i] = open(t, n, i)
	}
	var wg sync.WaitGroup
	for i := range ports {
		wg.Go(func() { meetAll(t, i, ports[i], evs[i], ends, total) })
	}
	wg.Wait()
	for _, p := range ports {
		p.Close()
	}
}

func meetAll(t *testing.T, self int, p *mem.Port, ev *events, ends, total int) {
	links := make([]transport.Link, ends)
	for i := range links {
		l, err := p.Dial(t.Context(), address(i))
		if err != nil {
			t.Error(err)
			return
		}
		l.Bind(int32(100 + i)) // nothing comes this way: each sends on the link it dialled
		links[i] = l
	}
	sent, got, arrived := make([]uint32, ends), make([]uint32, ends), 0
	take := handler(func(peer int32, h *wire.Header, _ []byte) bool {
		if h.Seq != got[peer] {
			t.Errorf("endpoint %d: frame %d of %d, want %d", self, h.Seq, peer, got[peer])
		}
		got[peer]++
		arrived++
		return true
	})
	for left := ends * total; left > 0 || arrived < ends*total; runtime.Gosched() {
		for _, l := range ev.takeAccepted() {
			from, _ := l.Peer()
			l.Bind(int32(from.Endpoint))
		}
		for i, l := range links {
			if sent[i] < uint32(total) && l.Send(&wire.Header{Kind: wire.Eager, Seq: sent[i]}, nil, 0) {
				sent[i]++
				left--
			}
		}
		p.Poll(take)
	}
}
