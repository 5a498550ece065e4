//go:build linux

package netns_test

import (
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
)

// patience is the connect timeout of what must be refused.
const patience = 2 * time.Second

// refusal is an attempt that must fail, and what the error must name.
type refusal struct {
	name   string
	host   string
	id     uint32
	filter uint32
	says   []string
}

// check has a peer make the attempt. It must end within the patience, with room
// for a loaded machine.
func (r refusal) check(t *testing.T, p *traffic.Peer) {
	t.Helper()
	began := time.Now()
	said := p.ConnectFails(r.host, r.id, r.filter, patience)
	took := time.Since(began)
	t.Logf("after %v: %s", took.Round(time.Millisecond), said)
	for _, word := range r.says {
		if !strings.Contains(said, word) {
			t.Errorf("says nothing about %q: %s", word, said)
		}
	}
	if took > patience+5*time.Second {
		t.Errorf("took %v with a timeout of %v", took, patience)
	}
}

// What can't be connected to is refused with an error that names both ends and
// the reason, and the endpoints go on working.
func TestRefusals(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 4})
	here, there, far, lost := n.Hosts[0], n.Hosts[1], n.Hosts[2], n.Hosts[3]
	here.WriteHosts(strings.Join([]string{
		"127.0.0.1 localhost", "127.0.1.1 looped",
		here.V4.String() + " " + here.Name, there.V4.String() + " " + there.Name,
		far.V4.String() + " " + far.Name, lost.V4.String() + " " + lost.Name,
	}, "\n") + "\n")
	here.Lose(far.V4, false)
	here.Lose(lost.V4, true)
	a, b := startOn(t, here, 5), startOn(t, there, 3)
	bothEnds := []string{here.Name, "/5"}
	for _, r := range []refusal{
		{"wrong filter", there.Name, 3, traffic.Filter + 1, append(bothEnds, "/3", "filter")},
		{"refused port", there.Name, 4, traffic.Filter, append(bothEnds, "/4", there.V4.String()+":20004", "refused")},
		{"no route", far.Name, 3, traffic.Filter, append(bothEnds, "/3", far.V4.String()+":20003", "no route to host")},
		{"silence", lost.Name, 3, traffic.Filter, append(bothEnds, "/3")},
		{"unknown host", "no.such.host.invalid", 3, traffic.Filter, []string{"no.such.host.invalid"}},
		{"name that leads to loopback", "looped", 3, traffic.Filter, []string{"looped", "127.0.1.1"}},
	} {
		t.Run(r.name, func(t *testing.T) { r.check(t, a) })
	}
	to := a.Connect(there.Name, 3)
	b.Sink(1, 1000, traffic.Mixed)
	a.Stream(to, 1000, traffic.Mixed)
	a.Streamed()
	b.Sunk()
}

// Hosts that don't share the secret refuse each other, whoever begins.
func TestSecrets(t *testing.T) {
	n := netns.New(t, netns.Options{Hosts: 2})
	for name, secrets := range map[string][2][]string{
		"wrong": {{"MX_SECRET=one"}, {"MX_SECRET=another"}}, "only here": {{"MX_SECRET=one"}, nil}, "only there": {nil, {"MX_SECRET=one"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := startOn(t, n.Hosts[0], 5, secrets[0]...), startOn(t, n.Hosts[1], 3, secrets[1]...)
			refusal{host: n.Hosts[1].Name, id: 3, filter: traffic.Filter, says: []string{"/5", "/3", "secret"}}.check(t, a)
			refusal{host: n.Hosts[0].Name, id: 5, filter: traffic.Filter, says: []string{"/5", "/3", "secret"}}.check(t, b)
			a.TurnsAway(0)
			b.TurnsAway(0)
		})
	}
	t.Run("shared", func(t *testing.T) {
		a, b := startOn(t, n.Hosts[0], 5, "MX_SECRET=one"), startOn(t, n.Hosts[1], 3, "MX_SECRET=one")
		to := a.Connect(n.Hosts[1].Name, 3)
		b.Sink(1, 1000, traffic.Mixed)
		a.Stream(to, 1000, traffic.Mixed)
		a.Streamed()
		b.Sunk()
	})
}

// A second endpoint with the number of another one of the host is refused, with
// the port that is taken.
func TestDuplicateEndpoint(t *testing.T) {
	n := netns.New(t, netns.Options{Hosts: 2})
	a := startOn(t, n.Hosts[0], 9)
	for name, env := range map[string][]string{"any transport": nil, "TCP only": {"MX_TRANSPORT=tcp"}} {
		t.Run(name, func(t *testing.T) {
			said := traffic.Start(t, on(n.Hosts[0], env...)).OpenFails(9)
			t.Log(said)
			for _, word := range []string{"9", "busy"} {
				if !strings.Contains(said, word) {
					t.Errorf("says nothing about %q: %s", word, said)
				}
			}
		})
	}
	// The number is free on another host, and on this one when it is given back.
	startOn(t, n.Hosts[1], 9)
	a.Close()
	startOn(t, n.Hosts[0], 9)
}
