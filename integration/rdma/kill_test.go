//go:build linux

package rdma_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
)

// promise is how long requests of a dead peer may stay pending, with room for a
// loaded machine.
const promise = 10 * time.Second

// victimID is the endpoint of each victim in turn: it must be free again.
const victimID = 3

// occupations are what a victim is busy with when it is killed.
var occupations = map[string]traffic.Sizes{
	"eager": traffic.Small, "rendezvous": traffic.Large, "mixed": traffic.Mixed, "idle": "",
}

// Peers are killed at random moments of traffic both ways, or of none. Requests with
// them end with an error; another peer of the same endpoint notices nothing; the
// kernel has nothing of the dead, and the living no more than before.
func TestKills(t *testing.T) {
	w := sameDevice(t)
	const rounds = 2
	c := pair(t, w)
	c.a.Drain()
	first := c.holds()
	for name, sizes := range occupations {
		t.Run(name, func(t *testing.T) {
			for range rounds {
				c.kill(t, w, sizes)
				c.b.Sink(1, 200, traffic.Mixed)
				c.a.Stream(c.toB, 200, traffic.Mixed)
				c.a.Streamed()
				c.b.Sunk()
			}
			settles(t, first, c.holds)
		})
	}
}

// kill starts a victim, and kills it.
func (c *couple) kill(t *testing.T, w way, sizes traffic.Sizes) {
	t.Helper()
	victim := start(t, w.right, victimID)
	to, back := c.a.Connect(w.right.host, victimID), victim.Connect(w.left.host, aID)
	c.a.Post(to)
	if sizes != "" {
		victim.Drain()
		victim.Storm(back, sizes)
		c.a.Storm(to, sizes)
	}
	time.Sleep(rand.N(200 * time.Millisecond))
	victim.Signal(syscall.SIGKILL)
	killed := time.Now()
	if sizes != "" {
		t.Logf("the storm ended with %q after %v", c.a.Over(), time.Since(killed).Round(time.Millisecond))
	}
	codes, _ := c.a.Ended(promise)
	took := time.Since(killed)
	t.Logf("requests ended after %v: %s", took.Round(time.Millisecond), codes)
	if strings.Contains(codes, "success") {
		t.Error("sends that nobody received ended with", codes)
	}
	if took > promise {
		t.Errorf("requests of a dead peer were pending for %v", took)
	}
	victim.Kill()
}

// A stopped peer is not a dead one. When it goes on, everything arrives once and in
// order. Its device answers for it meanwhile, so that nothing breaks.
func TestStoppedPeerGoesOn(t *testing.T) {
	w := sameDevice(t)
	c := pair(t, w)
	count := scale(2000)
	for _, stopped := range []*traffic.Peer{c.a, c.b} {
		c.b.Sink(1, count, traffic.Mixed)
		c.a.Stream(c.toB, count, traffic.Mixed)
		time.Sleep(rand.N(20 * time.Millisecond))
		stopped.Stop()
		time.Sleep(2 * time.Second)
		stopped.Signal(syscall.SIGCONT)
		c.a.Streamed()
		c.b.Sunk()
	}
	if n := c.both("links broken"); n != 0 {
		t.Logf("%d links were broken", n)
	}
}
