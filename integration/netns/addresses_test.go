//go:build linux

package netns_test

import (
	"testing"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
)

// Hosts with IPv4 and IPv6 have NIC ids made of the former. They are found by the
// latter as well, the first time and from then on, and it is the same session.
func TestAskedForByIPv6(t *testing.T) {
	testlength.Long(t)
	if !netns.HasV6() {
		t.Skip("this machine has no IPv6")
	}
	n := netns.New(t, netns.Options{Hosts: 2})
	for name, env := range map[string][]string{"plain": nil, "secret": {"MX_SECRET=between us"}} {
		t.Run(name, func(t *testing.T) {
			a, b := startOn(t, n.Hosts[0], 4, env...), startOn(t, n.Hosts[1], 4, env...)
			for range 2 {
				toB, toA := a.Connect(n.Hosts[1].V6.String(), 4), b.Connect(n.Hosts[0].V6.String(), 4)
				a.Duplex(toB, 500, traffic.Mixed)
				b.Duplex(toA, 500, traffic.Mixed)
				a.Sunk()
				b.Sunk()
				toB = a.Connect(n.Hosts[1].V4.String(), 4)
				b.Sink(1, 500, traffic.Mixed)
				a.Stream(toB, 500, traffic.Mixed)
				a.Streamed()
				b.Sunk()
			}
			refusal{host: n.Hosts[1].V6.String(), id: 5, filter: traffic.Filter, says: []string{"/5", "refused"}}.check(t, a)
			refusal{host: n.Hosts[1].V6.String(), id: 4, filter: traffic.Filter + 1, says: []string{"/4", "filter"}}.check(t, a)
		})
	}
	t.Run("wrong secret", func(t *testing.T) {
		a := startOn(t, n.Hosts[0], 4, "MX_SECRET=one")
		startOn(t, n.Hosts[1], 4, "MX_SECRET=another")
		refusal{host: n.Hosts[1].V6.String(), id: 4, filter: traffic.Filter, says: []string{"/4", "secret"}}.check(t, a)
	})
}
