//go:build linux

package tcp_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
)

// impatient has hosts that are gone noticed after 3 seconds, and requests end a
// second later.
var impatient = []string{"MX_KEEPALIVE=3s", "MX_REQUEST_TIMEOUT=1s"}

// promise is how long requests of a dead peer may stay pending by that, with room
// for a loaded machine.
const promise = 10 * time.Second

// Peers are killed at random moments of traffic both ways. Requests with them end
// with an error; another peer of the same endpoint notices nothing.
func TestKills(t *testing.T) {
	t.Parallel()
	kills := 12
	if testing.Short() {
		kills = 3
	}
	a, good, toGood, _ := pair(t, impatient...)
	a.Drain()
	for round := range kills {
		victim := start(t, leftPorts, third, impatient...)
		victim.Drain()
		to, back := a.Connect(host, victim.ID), victim.Connect(host, a.ID)
		if round%2 == 0 {
			a.Post(to)
		}
		victim.Storm(back, traffic.Mixed)
		a.Storm(to, traffic.Mixed)
		time.Sleep(rand.N(50 * time.Millisecond))
		victim.Signal(syscall.SIGKILL)
		killed := time.Now()
		code := a.Over()
		t.Logf("killed in a storm: %s after %v", code, time.Since(killed).Round(time.Millisecond))
		if round%2 == 0 {
			if codes, _ := a.Ended(promise); strings.Contains(codes, "success") {
				t.Error("sends that nobody received ended with", codes)
			}
		}
		if took := time.Since(killed); took > promise {
			t.Errorf("requests of a dead peer were pending for %v", took)
		}
		victim.Kill()
		good.Sink(1, 200, traffic.Mixed)
		a.Stream(toGood, 200, traffic.Mixed)
		a.Streamed()
		good.Sunk()
	}
}

// A stopped peer is not a dead one. Its sockets fill up, and may be given up; when
// it goes on, everything arrives once and in order.
func TestStoppedPeerGoesOn(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for name, pause := range map[string]time.Duration{"shortly": 500 * time.Millisecond, "longer than connections live": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && pause > time.Second {
				t.Skip("a short run stops nobody for long")
			}
			count := scale(10_000)
			a, b, toB, _ := pair(t, "MX_KEEPALIVE=3s", "MX_REQUEST_TIMEOUT=20s")
			for _, stopped := range []*traffic.Peer{a, b} {
				b.Sink(1, count, traffic.Mixed)
				a.Stream(toB, count, traffic.Mixed)
				time.Sleep(rand.N(20 * time.Millisecond))
				stopped.Stop()
				time.Sleep(pause)
				stopped.Signal(syscall.SIGCONT)
				a.Streamed()
				b.Sunk()
			}
		})
	}
}

// Requests with a timeout end while their peer is stopped, and a new connect finds
// it when it goes on.
func TestStoppedPeerIsGivenUp(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	a, b, toB, _ := pair(t, impatient...)
	b.Stop()
	a.Post(toB)
	a.Limit(time.Second)
	codes, after := a.Ended(promise)
	t.Logf("ended after %v: %s", after.Round(time.Millisecond), codes)
	if strings.Contains(codes, "success") {
		t.Error("sends to a stopped peer ended with", codes)
	}
	b.Signal(syscall.SIGCONT)
	toB = a.Connect(host, b.ID)
	toA := b.Connect(host, a.ID)
	exchange(t, a, b, toB, toA, 1000, traffic.Mixed)
}
