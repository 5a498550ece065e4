//go:build linux

package rdma_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
)

// lose has the cable lose packets in both directions until the test is over. Connections that are over TCP lose
// theirs, too.
func lose(t *testing.T, share string) {
	t.Helper()
	tc := func(words string) {
		t.Helper()
		if out, err := exec.Command("tc", strings.Fields(words)...).CombinedOutput(); err != nil {
			t.Errorf("tc %s: %v: %s", words, err, out)
		}
	}
	for _, end := range []string{"d1", "d2"} {
		tc("qdisc add dev " + end + " root netem loss " + share)
		t.Cleanup(func() { tc("qdisc del dev " + end + " root") })
	}
}

// Packets get lost on the way, as in a network that is too busy: requests, answers and what asks for
// either again. All messages arrive once, in order, and as they were sent.
func TestLostPackets(t *testing.T) {
	w := cable(t)
	c := pair(t, w, "MX_REQUEST_TIMEOUT=2m")
	c.exchange(500, traffic.All)
	lose(t, "3%")
	began := time.Now()
	rounds := scale(40)
	for range rounds {
		c.exchange(500, traffic.All)
	}
	t.Logf("%d messages in %v; get rendezvous %d, of which failed %d; links broken %d; %s", rounds*1000, time.Since(began).Round(time.Millisecond),
		c.both("get rendezvous"), c.both("get rendezvous that failed"), c.both("links broken"), c.a.Way(c.toB))
	if c.both("get rendezvous") == 0 {
		t.Error("nothing was read directly: that was no test")
	}
}
