package mem_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

// puller takes frames and the ends of pulls.
type puller struct {
	handler
	fine, failed []uint64
}

func newPuller() *puller {
	return &puller{handler: func(int32, *wire.Header, []byte) bool { return true }}
}

func (p *puller) PullFinished(id uint64, ok bool) {
	if ok {
		p.fine = append(p.fine, id)
	} else {
		p.failed = append(p.failed, id)
	}
}

var late = mem.Pulls{Seed: 1, Delay: 4}

func TestLatePulls(t *testing.T) {
	_, b, toB, toA, _ := pair(t, mem.NewNetwork(mem.Options{Pulls: late}))
	list := func(s string) *wire.Vec { return &wire.Vec{First: []byte(s)} }
	kept, _ := toB.Export(nil, list("kept"))
	ended, token := toB.Export(nil, list("ended"))
	into := [3]*wire.Vec{list("...."), list("....."), list("....")}
	for i, desc := range [][]byte{kept, ended, bytes.Repeat([]byte{0xff}, len(kept))} {
		want := wire.PullStarted
		if i == 2 {
			want = wire.PullFailed
		}
		if got := toA.Pull(desc, into[i], into[i].Len(), uint64(i)); got != want {
			t.Fatalf("pull %d: %v, want %v", i, got, want)
		}
	}
	if b.Quiet() {
		t.Error("quiet, although pulls are under way")
	}
	if s := string(into[0].First); s != "...." {
		t.Errorf("%q is in place before anybody polls", s)
	}
	toB.Unexport(token, false)
	toB.Export(nil, list("other"))
	p := newPuller()
	for range late.Delay {
		b.Poll(p)
	}
	if !slices.Equal(p.fine, []uint64{0}) || !slices.Equal(p.failed, []uint64{1}) || !b.Quiet() {
		t.Errorf("fine %v, failed %v, quiet %v", p.fine, p.failed, b.Quiet())
	}
	if a, b := string(into[0].First), string(into[1].First); a != "kept" || b != "....." {
		t.Errorf("pulled %q and %q", a, b)
	}
}

func TestPullsThatFailHalfWay(t *testing.T) {
	_, b, toB, toA, _ := pair(t, mem.NewNetwork(mem.Options{Pulls: mem.Pulls{Delay: 1, Fail: 1}}))
	desc, _ := toB.Export(nil, &wire.Vec{First: []byte("abcdef")})
	into := &wire.Vec{First: []byte("......")}
	toA.Pull(desc, into, 6, 9)
	p := newPuller()
	b.Poll(p)
	if !slices.Equal(p.failed, []uint64{9}) || string(into.First) != "abc..." {
		t.Errorf("failed %v, pulled %q", p.failed, into.First)
	}
}

// TestPullEndsWithItsLink closes either side, and the port, while a pull is under
// way. Its own side hears no more of it, and nothing is written.
func TestPullEndsWithItsLink(t *testing.T) {
	for _, c := range []struct {
		name  string
		end   func(b *mem.Port, near, far transport.Link)
		fails int
	}{
		{"the puller's link", func(_ *mem.Port, near, _ transport.Link) { near.Close() }, 0},
		{"the puller's port", func(b *mem.Port, _, _ transport.Link) { b.Close() }, 0},
		{"the other side", func(_ *mem.Port, _, far transport.Link) { far.Close() }, 1},
	} {
		_, b, toB, toA, _ := pair(t, mem.NewNetwork(mem.Options{Pulls: mem.Pulls{Delay: 1}}))
		desc, _ := toB.Export(nil, &wire.Vec{First: []byte("abc")})
		into := &wire.Vec{First: []byte("...")}
		toA.Pull(desc, into, 3, 9)
		c.end(b, toA, toB)
		p := newPuller()
		b.Poll(p)
		if len(p.fine) != 0 || len(p.failed) != c.fails || string(into.First) != "..." {
			t.Errorf("%s: fine %v, failed %v, pulled %q", c.name, p.fine, p.failed, into.First)
		}
	}
}

func TestHealingCutBreaksLinks(t *testing.T) {
	n := mem.NewNetwork(mem.Options{Heals: true, Pulls: late})
	a, b, toB, toA, bEvents := pair(t, n)
	numbered(toB, 0, 2)
	b.Poll(handler(func(int32, *wire.Header, []byte) bool { return false })) // the other one stays where it is
	old, _ := toB.Export(nil, &wire.Vec{First: []byte("abc")})
	into := &wire.Vec{First: []byte("...")}
	if got := toA.Pull(old, into, 3, 9); got != wire.PullStarted {
		t.Fatalf("pull: %v", got)
	}
	n.SetCut(address(0), address(1), true)
	if _, err := a.Dial(t.Context(), address(1)); !errors.Is(err, transport.ErrNoRoute) {
		t.Errorf("dial across a cut: %v, want ErrNoRoute", err)
	}
	n.SetCut(address(0), address(1), false)
	numbered(toB, 2, 1)
	if b.Quiet() {
		t.Error("quiet, although a link has broken")
	}
	p := newPuller()
	p.handler = func(_ int32, h *wire.Header, _ []byte) bool {
		t.Errorf("frame %d came over a broken link", h.Seq)
		return true
	}
	for range 2 * late.Delay {
		b.Poll(p)
	}
	<-bEvents.downs
	if len(p.fine)+len(p.failed) != 0 || string(into.First) != "..." || !b.Quiet() {
		t.Errorf("fine %v, failed %v, pulled %q, quiet %v", p.fine, p.failed, into.First, b.Quiet())
	}
	toB, err := a.Dial(t.Context(), address(1))
	if err != nil {
		t.Fatal(err)
	}
	toA = bEvents.takeAccepted()[0]
	toA.Bind(0)
	current, _ := toB.Export(nil, &wire.Vec{First: []byte("xyz")})
	if got := toA.Pull(old, into, 3, 10); got != wire.PullFailed {
		t.Errorf("pull by the memory descriptor of an earlier link: %v", got)
	}
	if got := toA.Pull(current, into, 3, 11); got != wire.PullStarted {
		t.Errorf("pull over the next link: %v", got)
	}
	p = newPuller()
	for range late.Delay {
		b.Poll(p)
	}
	if !slices.Equal(p.fine, []uint64{11}) || string(into.First) != "xyz" {
		t.Errorf("fine %v, pulled %q", p.fine, into.First)
	}
}
