//go:build linux

package rdma_test

import (
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/traffic"
)

// A hundred thousand messages of all sizes, out of all kinds of memory and into
// them, half of them each way at once, and some over the cable. Nothing is lost or
// damaged, and in the end the devices have nothing more of us than before, nor meanwhile.
func TestMixed(t *testing.T) {
	needRDMA(t)
	const part = 2000 // messages each way, which may not take long
	for _, c := range []struct {
		name  string
		find  func(testing.TB) way
		count int
	}{{"one device", sameDevice, 100_000}, {"cable", cable, 12_000}} {
		t.Run(c.name, func(t *testing.T) {
			w := c.find(t)
			each := scale(c.count) / 2
			a, b := traffic.Start(t, over(w.left)), traffic.Start(t, over(w.right))
			c := &couple{t: t, a: a, b: b}
			before := c.holds()
			a.Open(aID)
			b.Open(bID)
			opened := c.holds()
			c.connect(w)
			if says := a.Way(c.toB); !strings.HasPrefix(says, "rdma;") {
				t.Fatal(says)
			}
			began := time.Now()
			var first hold
			for sent := 0; sent < each; sent += part {
				c.exchange(min(part, each-sent), traffic.All)
				if sent == 0 {
					first = c.holds()
				}
				settles(t, first, c.holds)
			}
			t.Logf("%d messages in %v; sent directly %d, in blocks %d; %v once open, %v connected", 2*each,
				time.Since(began).Round(time.Millisecond), c.both("get rendezvous"), c.both("pipelined rendezvous"), opened, first)
			if n := c.both("links broken"); n != 0 {
				t.Logf("%d links were broken: Soft-RoCE may give up when the machine is slow", n)
			}
			if c.both("get rendezvous") == 0 {
				t.Error("nothing was read directly")
			}
			a.Close()
			b.Close()
			settles(t, before, c.holds)
		})
	}
}

// Links and endpoints come and go, and leave nothing.
func TestComeAndGo(t *testing.T) {
	w := sameDevice(t)
	a, b := start(t, w.left, aID), traffic.Start(t, over(w.right))
	c := &couple{t: t, a: a, b: b}
	before := c.holds()
	for range scale(20) {
		b.Open(bID)
		c.connect(w)
		c.exchange(64, traffic.Mixed)
		b.Close()
	}
	settles(t, before, c.holds)
}
