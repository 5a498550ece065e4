//go:build linux

package netns_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
	"gomx/mx"
)

// bound is how long requests with a host that has vanished may stay pending by
// what impatient says, with room for a loaded machine.
const bound = 4*time.Second + 8*time.Second

// good reports whether all of these are statuses that the manual has for a peer
// that is gone, does not answer, or was opened anew.
func good(codes string) bool {
	gone := []mx.StatusCode{mx.StatusEndpointUnreachable, mx.StatusEndpointClosed, mx.StatusTimeout, mx.StatusBadSession}
	for code := range strings.SplitSeq(codes, ", ") {
		if !slices.ContainsFunc(gone, func(c mx.StatusCode) bool { return c.String() == code }) {
			return false
		}
	}
	return true
}

// ended checks how the requests of Post have ended.
func ended(t *testing.T, p *traffic.Peer, within time.Duration) {
	t.Helper()
	codes, after := p.Ended(within)
	t.Logf("ended after %v: %s", after.Round(time.Millisecond), codes)
	if !good(codes) {
		t.Errorf("requests with a peer that is gone ended with %s", codes)
	}
}

// A host that vanishes without a word: requests with it end, and other peers
// notice nothing.
func TestHostVanishes(t *testing.T) {
	testlength.Long(t)
	for _, how := range []struct {
		name   string
		vanish func(h *netns.Host) error
	}{
		{"cable pulled", (*netns.Host).Pull},
		{"link down", (*netns.Host).Down},
		{"interface gone", func(h *netns.Host) error { h.Vanish(); return nil }},
	} {
		t.Run(how.name, func(t *testing.T) {
			if testing.Short() && how.name == "link down" {
				t.Skip("its neighbours are enough for a short run")
			}
			t.Parallel()
			n := netns.New(t, netns.Options{Hosts: 3})
			a, b, c := startOn(t, n.Hosts[0], 0, impatient...), startOn(t, n.Hosts[1], 0, impatient...), startOn(t, n.Hosts[2], 0, impatient...)
			toB, toC := a.Connect(n.Hosts[1].Name, 0), a.Connect(n.Hosts[2].Name, 0)
			b.Connect(n.Hosts[0].Name, 0)
			a.Post(toB)
			b.Post(0)
			if err := how.vanish(n.Hosts[1]); err != nil {
				t.Fatal(err)
			}
			c.Sink(1, scale(20_000), traffic.Mixed)
			a.Stream(toC, scale(20_000), traffic.Mixed)
			a.Streamed()
			c.Sunk()
			ended(t, a, bound)
			ended(t, b, bound) // for the other side it is we who have vanished
			c.Sink(1, 1000, traffic.Mixed)
			a.Stream(toC, 1000, traffic.Mixed)
			a.Streamed()
			c.Sunk()
		})
	}
}

// An idle session with a host that has vanished ends, too: the next send says so.
func TestIdleHostVanishes(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 2})
	a := startOn(t, n.Hosts[0], 0, impatient...)
	startOn(t, n.Hosts[1], 0, impatient...)
	to := a.Connect(n.Hosts[1].Name, 0)
	n.Hosts[1].Vanish()
	time.Sleep(4 * time.Second)
	a.Post(to)
	ended(t, a, bound)
}

// A peer that is killed: the kernel of its host says so, and requests end soon.
// An endpoint opened in its place is another one: the old address stays dead, and
// a new connect works.
func TestPeerKilledAndRestarted(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 2})
	a := startOn(t, n.Hosts[0], 0, impatient...)
	b := startOn(t, n.Hosts[1], 3, impatient...)
	for round := range 3 {
		old := a.Connect(n.Hosts[1].Name, 3)
		b.Sink(1, 1000, traffic.Mixed)
		a.Stream(old, 1000, traffic.Mixed)
		a.Streamed()
		b.Sunk()
		a.Post(old)
		if round == 1 {
			b.Close() // in good order for once
		} else {
			b.Signal(syscall.SIGKILL)
		}
		ended(t, a, bound)
		b.Kill()
		b = startOn(t, n.Hosts[1], 3, impatient...)
		a.Post(old)
		ended(t, a, bound)
	}
}

// A peer restarted so quickly that the other side never saw it gone.
func TestPeerReplacedUnseen(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 2})
	env := []string{"MX_KEEPALIVE=20s", "MX_REQUEST_TIMEOUT=20s"}
	a, b := startOn(t, n.Hosts[0], 0, env...), startOn(t, n.Hosts[1], 3, env...)
	to := a.Connect(n.Hosts[1].Name, 3)
	a.Post(to)
	if err := n.Hosts[0].Pull(); err != nil { // so that the notice of b's failure is lost
		t.Fatal(err)
	}
	b.Kill()
	b = startOn(t, n.Hosts[1], 3, env...)
	if err := n.Hosts[0].Plug(); err != nil {
		t.Fatal(err)
	}
	b.Connect(n.Hosts[0].Name, 0)
	ended(t, a, 15*time.Second)
	again := a.Connect(n.Hosts[1].Name, 3)
	b.Sink(1, 1000, traffic.Mixed)
	a.Stream(again, 1000, traffic.Mixed)
	a.Streamed()
	b.Sunk()
}

// Processes in containers of their own meet over TCP: other namespaces not only
// of the network, but of processes, users, mounts and everything else.
func TestContainers(t *testing.T) {
	testlength.Long(t)
	n := netns.New(t, netns.Options{Hosts: 2})
	var peers []*traffic.Peer
	for _, h := range n.Hosts {
		o := on(h)
		o.Under = append(o.Under, "unshare", "--pid", "--fork", "--kill-child", "--ipc", "--mount", "--user", "--map-root-user")
		p, err := proc.TryStart(t, o, traffic.RoleName)
		if err != nil {
			t.Skip("this machine makes no containers:", err)
		}
		peer := traffic.Wrap(t, p)
		peer.Open(0)
		peers = append(peers, peer)
	}
	a, b := peers[0], peers[1]
	toB, toA := a.Connect(n.Hosts[1].Name, 0), b.Connect(n.Hosts[0].Name, 0)
	a.Duplex(toB, 2000, traffic.Mixed)
	b.Duplex(toA, 2000, traffic.Mixed)
	a.Sunk()
	b.Sunk()
}
