//go:build linux

package netns_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/integration/internal/proxy"
	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
)

// proxied runs a proxy that cuts at random until its parent says stop. Arguments:
// the port it listens on, the port it forwards to, the mean of bytes between cuts,
// a seed.
func proxied(c *proc.Child) {
	p, err := proxy.Start(proxy.Options{
		Listen: int(c.Number(0)), To: int(c.Number(1)),
		Cut: proxy.About(int64(c.Number(2)), uint64(c.Number(3))),
	})
	if err != nil {
		c.Fail(err)
	}
	c.Say("proxying")
	c.Hear()
	c.Say("cuts %d", p.Cuts())
}

// The ports that endpoint 0 has on the two hosts. Each host believes that the
// other one has the same as itself, and meets a proxy there.
const (
	portsHere  = 21000
	portsThere = 22000
)

// Connections are cut at random through proxies while both hosts send all kinds
// of messages: all arrive once, whole, in order.
func TestConnectionsCutAtRandom(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 2})
	seed := rand.Uint32()
	t.Log("seed", seed)
	for _, c := range []struct {
		name  string
		sizes traffic.Sizes
		count int
		mean  int
	}{
		{"small", traffic.Small, scale(100_000), scale(100_000)},
		{"mixed", traffic.Mixed, scale(10_000), scale(3_000_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := startOn(t, n.Hosts[0], 0, fmt.Sprint("MX_PORT_BASE=", portsHere))
			b := startOn(t, n.Hosts[1], 0, fmt.Sprint("MX_PORT_BASE=", portsThere))
			toA := proc.StartWith(t, on(n.Hosts[0]), "proxy", portsThere, portsHere, c.mean, seed)
			toB := proc.StartWith(t, on(n.Hosts[1]), "proxy", portsHere, portsThere, c.mean, seed+1)
			toA.Hear("proxying")
			toB.Hear("proxying")
			toThere := a.Connect(n.Hosts[1].Name, 0)
			toHere := b.Connect(n.Hosts[0].Name, 0)
			a.Duplex(toThere, c.count, c.sizes)
			b.Duplex(toHere, c.count, c.sizes)
			a.Sunk()
			b.Sunk()
			var cuts uint32
			for _, p := range []*proc.Process{toA, toB} {
				p.Say("stop")
				cuts += p.HearNumber("cuts")
			}
			t.Logf("%d messages each way, %d cuts", c.count, cuts)
			if cuts < 3 {
				t.Error("that was hardly a test")
			}
		})
	}
}

// flap takes a host's link down and up at random until told to stop, and returns
// how often. TCP waits twice as long after each packet that is lost again, so the
// link is up for most of the time.
func flap(h *netns.Host, stop <-chan struct{}) (times int, err error) {
	for {
		select {
		case <-stop:
			return times, nil
		case <-time.After(50*time.Millisecond + rand.N(200*time.Millisecond)):
		}
		off, on := h.Down, h.Up
		if rand.IntN(2) == 0 {
			off, on = h.Pull, h.Plug
		}
		if err := off(); err != nil {
			return times, err
		}
		time.Sleep(5*time.Millisecond + rand.N(45*time.Millisecond))
		if err := on(); err != nil {
			return times, err
		}
		times++
	}
}

// The link goes down and up at random while messages travel both ways.
func TestLinkDownAndUp(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 2})
	a, b := startOn(t, n.Hosts[0], 0), startOn(t, n.Hosts[1], 0)
	toB, toA := a.Connect(n.Hosts[1].Name, 0), b.Connect(n.Hosts[0].Name, 0)
	stop, stopped := make(chan struct{}), make(chan error, 1)
	times := 0
	go func() {
		var err error
		times, err = flap(n.Hosts[1], stop)
		stopped <- err
	}()
	rounds, count := 0, scale(2000)
	for begin := time.Now(); time.Since(begin) < time.Duration(scale(5000))*time.Millisecond; rounds++ {
		a.Duplex(toB, count, traffic.Mixed)
		b.Duplex(toA, count, traffic.Mixed)
		a.Sunk()
		b.Sunk()
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	t.Logf("%d messages each way, the link was down %d times", rounds*count, times)
	if times == 0 {
		t.Error("the link was never down")
	}
}

// An outage that lasts longer than connections live heals as well, as long as it
// is shorter than the request timeout.
func TestLongOutage(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 2})
	env := []string{"MX_KEEPALIVE=3s", "MX_REQUEST_TIMEOUT=30s"}
	a, b := startOn(t, n.Hosts[0], 0, env...), startOn(t, n.Hosts[1], 0, env...)
	toB, toA := a.Connect(n.Hosts[1].Name, 0), b.Connect(n.Hosts[0].Name, 0)
	const count = 3000
	for _, outage := range []struct {
		name    string
		off, on func() error
	}{{"pulled", n.Hosts[1].Pull, n.Hosts[1].Plug}, {"down", n.Hosts[0].Down, n.Hosts[0].Up}} {
		if outage.name == "down" && testing.Short() {
			break
		}
		broken, resumed := healed(a, b)
		if err := outage.off(); err != nil {
			t.Fatal(err)
		}
		a.Duplex(toB, count, traffic.Mixed)
		b.Duplex(toA, count, traffic.Mixed)
		time.Sleep(4 * time.Second) // more than connections live
		if err := outage.on(); err != nil {
			t.Fatal(err)
		}
		a.Sunk()
		b.Sunk()
		brokenNow, resumedNow := healed(a, b)
		t.Logf("%s: %d links broke, %d sessions resumed", outage.name, brokenNow-broken, resumedNow-resumed)
		if brokenNow == broken || resumedNow == resumed {
			t.Error("no connection broke, so none has healed")
		}
	}
}

// healed returns how many links of these peers broke, and how many of their sessions
// went on over another one.
func healed(peers ...*traffic.Peer) (broken, resumed uint64) {
	for _, p := range peers {
		broken += p.Counter("links broken")
		resumed += p.Counter("sessions resumed")
	}
	return broken, resumed
}
