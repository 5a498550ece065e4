package mem_test

import (
	"slices"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

// simPulling joins two endpoints whose links pull, and begins to pull from the first
// to the second. The way takes 10 ms, there and back.
func simPulling(t *testing.T, o mem.SimOptions) (s *mem.Sim, a, b *simOwner, token uint64, desc, into []byte) {
	t.Helper()
	o.Seed, o.Pulls, o.Latency = 1, true, mem.Fixed(5*time.Millisecond)
	s, a, b = simPair(t, o)
	desc, token = a.links[0].Export(nil, &wire.Vec{First: []byte("abcdef")})
	into = []byte("......")
	got := wire.PullFailed
	for try := 0; got == wire.PullFailed && try < 20; try++ { // those that shall fail may do so at once
		got = b.links[0].Pull(desc, &wire.Vec{First: into}, 6, 7)
	}
	if got != wire.PullStarted || s.UnderWay() != 1 {
		t.Fatalf("pull: %v, %d under way", got, s.UnderWay())
	}
	return s, a, b, token, desc, into
}

func TestSimPull(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      mem.SimOptions
		during func(s *mem.Sim, a, b *simOwner, token uint64)
		fine   bool
		fails  bool
	}{
		{"nothing happens", mem.SimOptions{}, func(*mem.Sim, *simOwner, *simOwner, uint64) {}, true, false},
		{"it fails", mem.SimOptions{PullFails: 1}, func(*mem.Sim, *simOwner, *simOwner, uint64) {}, false, true},
		{"the memory is withdrawn", mem.SimOptions{}, func(_ *mem.Sim, a, _ *simOwner, token uint64) { a.links[0].Unexport(token, false) }, false, true},
		{"the other side closes", mem.SimOptions{}, func(_ *mem.Sim, a, _ *simOwner, _ uint64) { a.links[0].Close() }, false, true},
		{"the puller closes", mem.SimOptions{}, func(_ *mem.Sim, _, b *simOwner, _ uint64) { b.links[0].Close() }, false, false},
		{"the link is cut", mem.SimOptions{}, func(s *mem.Sim, _, _ *simOwner, _ uint64) { s.Cut(address(0), address(1)) }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Medium, c.o.Notice = mem.Healing, mem.Fixed(time.Millisecond)
			s, a, b, token, _, into := simPulling(t, c.o)
			s.RunUntil(s.Now() + 7*time.Millisecond) // the first bytes are there
			c.during(s, a, b, token)
			s.RunUntil(s.Now() + 2*time.Millisecond)
			over := string(into)
			s.RunUntil(s.Now() + time.Second)
			if (len(b.pulled) == 1) != c.fine || (len(b.unpulled) == 1) != c.fails || s.UnderWay() != 0 {
				t.Errorf("fine %v, failed %v, %d under way", b.pulled, b.unpulled, s.UnderWay())
			}
			if c.fine && string(into) != "abcdef" || !c.fine && string(into) != over {
				t.Errorf("%q is in place, was %q", into, over)
			}
		})
	}
}

// TestSimPullOverNextLink uses a memory descriptor of a link that was cut.
func TestSimPullOverNextLink(t *testing.T) {
	s, a, b, _, desc, into := simPulling(t, mem.SimOptions{Medium: mem.Healing})
	s.Cut(address(0), address(1))
	a.port.Dial(address(1))
	s.RunUntil(s.Now() + time.Second)
	a.links[1].Export(nil, &wire.Vec{First: []byte("secret")})
	if got := b.links[1].Pull(desc, &wire.Vec{First: into}, 6, 8); got != wire.PullFailed {
		t.Errorf("pull by the memory descriptor of an earlier link: %v", got)
	}
	if a.port.Exported() != 1 || b.port.Exported() != 0 {
		t.Errorf("%d and %d pieces are exported", a.port.Exported(), b.port.Exported())
	}
}

// TestSimPartitionHoldsPulls: over safe links a pull waits for the end of a partition.
func TestSimPartitionHoldsPulls(t *testing.T) {
	s, _, b, _, _, _ := simPulling(t, mem.SimOptions{Medium: mem.Safe})
	s.Partition(func(a transport.Address) int { return int(a.Endpoint) })
	s.RunUntil(s.Now() + time.Second)
	if len(b.pulled) != 0 {
		t.Error("a pull crossed the partition")
	}
	s.Partition(nil)
	s.RunUntil(s.Now() + time.Second)
	if !slices.Equal(b.pulled, []uint64{7}) {
		t.Errorf("pulled %v after the partition", b.pulled)
	}
}

// TestSimFallback: some links are of the other medium, on both sides.
func TestSimFallback(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: mem.Healing, Pulls: true, Fallback: 0.5, FallbackFrame: 1000})
	for range 20 {
		a.port.Dial(address(1))
		s.RunUntil(s.Now() + time.Millisecond)
	}
	plain := 0
	for i, l := range a.links {
		caps := l.Caps()
		if caps != b.links[i].Caps() || caps.Pull == (caps.MaxFrame == 1000) {
			t.Fatalf("link %d: %+v and %+v", i, *caps, *b.links[i].Caps())
		}
		if !caps.Pull {
			plain++
		}
	}
	if plain == 0 || plain == len(a.links) {
		t.Errorf("%d of %d links are of the other medium", plain, len(a.links))
	}
}
