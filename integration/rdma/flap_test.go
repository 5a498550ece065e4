//go:build linux

package rdma_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
)

// ip changes the network. The machine's program of that name is iproute2's.
func ip(t testing.TB, words string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(words)...).CombinedOutput(); err != nil {
		t.Errorf("ip %s: %v: %s", words, err, out)
	}
}

// pull pulls the cable out of one end, and put puts it in. The system forgets the
// routes of an interface that is down.
func pull(t testing.TB) { ip(t, "link set d1 down") }

func put(t testing.TB) {
	ip(t, "link set d1 up")
	ip(t, "route replace 10.79.1.2/32 dev d1 table 101")
}

// aBreak is longer than queue pairs wait for an answer, so that those with anything
// under way end. Within aWhile they are there again.
const (
	aBreak = time.Second
	aWhile = 1500 * time.Millisecond
)

// flap takes the cable out and puts it back for the i-th time.
func flap(t testing.TB, i int) {
	t.Helper()
	down := aBreak
	if i%4 == 3 {
		down = 50 * time.Millisecond // which the device may get over by itself
	}
	pull(t)
	time.Sleep(down)
	put(t)
	time.Sleep(aWhile)
}

// The cable is pulled twenty times under traffic of all kinds, both ways. All of it
// arrives once and in order, be it over RDMA or, where that is allowed too, over TCP.
func TestFlap(t *testing.T) {
	w := cable(t)
	t.Cleanup(func() { put(t) })
	for transports, times := range map[string]int{"rdma": 20, "rdma,tcp": 3} {
		t.Run(transports, func(t *testing.T) {
			if testing.Short() {
				times = 2
			}
			c := pair(t, w, "MX_TRANSPORT="+transports, "MX_REQUEST_TIMEOUT=2m")
			c.exchange(500, traffic.All)
			flaps := make(chan struct{})
			began := time.Now()
			go func() {
				defer close(flaps)
				for i := 0; i < times && t.Context().Err() == nil; i++ {
					flap(t, i)
				}
			}()
			t.Cleanup(func() { <-flaps })
			messages := 0
			for done := false; !done; {
				c.exchange(500, traffic.All)
				messages += 1000
				select {
				case <-flaps:
					done = true
				default:
				}
			}
			c.exchange(500, traffic.All)
			t.Logf("%d messages in %v; links broken %d, sessions resumed %d, retransmitted %d; over RDMA %d, over TCP %d; %s", messages+1000,
				time.Since(began).Round(time.Millisecond), c.both("links broken"), c.both("sessions resumed"), c.both("retransmitted"),
				c.both("sent over rdma"), c.both("sent over tcp"), c.a.Way(c.toB))
			if c.both("links broken") == 0 || c.both("sessions resumed") == 0 {
				t.Error("nothing broke and came back: that was no test")
			}
		})
	}
}
