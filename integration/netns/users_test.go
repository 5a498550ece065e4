//go:build linux

package netns_test

import (
	"os/exec"
	"strings"
	"testing"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
	"gomx/internal/testlength"
)

// Two users of one host can't share memory. They meet over TCP, and the endpoint
// knows why.
func TestTwoUsers(t *testing.T) {
	testlength.Long(t)
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("needs setpriv of util-linux to become another user: ", err)
	}
	n := netns.New(t, netns.Options{Hosts: 2})
	host := n.Hosts[0]
	nobody := on(host)
	nobody.Copy = proc.ForAll(t)
	nobody.Under = append(nobody.Under, "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
	ours, theirs := startOn(t, host, 0), traffic.Start(t, nobody)
	startOn(t, host, 2)
	theirs.Open(1)
	toThem, toSame := ours.Connect(host.Name, 1), ours.Connect(host.Name, 2)
	toUs := theirs.Connect(host.Name, 0)
	ours.Duplex(toThem, 1000, traffic.Mixed)
	theirs.Duplex(toUs, 1000, traffic.Mixed)
	ours.Sunk()
	theirs.Sunk()
	way := ours.Way(toThem)
	t.Log("to the other user:", way)
	if !strings.HasPrefix(way, "tcp;") || !strings.Contains(way, "shm") || !strings.Contains(way, "user 65534") {
		t.Errorf("to the other user: %q, which is not tcp or does not say why", way)
	}
	if way := theirs.Way(toUs); !strings.HasPrefix(way, "tcp;") {
		t.Errorf("from the other user: %q", way)
	}
	if way := ours.Way(toSame); !strings.HasPrefix(way, "shm") {
		t.Errorf("to the same user: %s", way)
	}
}
