package netns

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// MaxHosts is how many hosts a network can have.
const MaxHosts = 9

// Options say what a network is like.
type Options struct {
	Hosts  int // 2 or more, up to MaxHosts
	Decoy  Decoy
	OnlyV6 bool // the hosts have no IPv4 addresses
}

// Decoy is an interface that hosts have beside the one that joins them.
type Decoy uint8

// The decoys. Each is up, and comes first in the order of names and in the
// files of hosts.
const (
	NoDecoy Decoy = iota
	DeadEnd       // addresses of a subnet whose hosts don't reach each other
	Twins         // the same address on every host, as that of a container bridge
)

// Net is a network of hosts.
type Net struct {
	t     testing.TB
	name  string // of the namespace with the bridge; those of the hosts begin with it
	Hosts []*Host
}

// number tells the networks of one process apart.
var number atomic.Int32

// New makes a network, which ends with the test. It skips the test where the
// machine lacks something.
func New(t testing.TB, o Options) *Net {
	t.Helper()
	if o.Hosts < 2 || o.Hosts > MaxHosts {
		t.Fatalf("a network of %d hosts", o.Hosts)
	}
	needRoot(t)
	sweep(t)
	n := &Net{t: t, name: fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), number.Add(1))}
	n.skipUnless("namespaces", "netns", "add", n.name)
	t.Cleanup(func() { remove(t, n.name) })
	n.skipUnless("bridges", "-n", n.name, "link", "add", "bridge", "type", "bridge")
	n.ip("-n", n.name, "link", "set", "bridge", "up")
	for i := 1; i <= o.Hosts; i++ {
		n.Hosts = append(n.Hosts, n.addHost(i, o))
	}
	for _, h := range n.Hosts {
		h.WriteHosts(n.lines(o))
	}
	return n
}

// addHost makes host i and joins it to the bridge.
func (n *Net) addHost(i int, o Options) *Host {
	n.t.Helper()
	h := &Host{
		net: n, Name: fmt.Sprintf("gomx-host%d", i), namespace: fmt.Sprintf("%s-%d", n.name, i), port: fmt.Sprintf("port%d", i),
		V6: netip.MustParseAddr(fmt.Sprintf("fd77::%d", i)),
	}
	n.ip("netns", "add", h.namespace)
	n.t.Cleanup(func() { remove(n.t, h.namespace) })
	n.skipUnless("veth pairs", "-n", n.name, "link", "add", h.port, "type", "veth", "peer", "name", wire, "netns", h.namespace)
	n.ip("-n", n.name, "link", "set", h.port, "master", "bridge", "up")
	h.ip("link", "set", "lo", "up")
	if !o.OnlyV6 {
		h.V4 = netip.MustParseAddr(fmt.Sprintf("10.77.0.%d", i))
		h.ip("addr", "add", h.V4.String()+"/24", "dev", wire)
	}
	if HasV6() {
		h.ip("addr", "add", h.V6.String()+"/64", "dev", wire, "nodad")
	} else if o.OnlyV6 {
		n.t.Skip("this machine has no IPv6")
	}
	h.ip("link", "set", wire, "up")
	switch o.Decoy {
	case DeadEnd:
		h.addDecoy(fmt.Sprintf("10.88.0.%d", i))
	case Twins:
		h.addDecoy("172.30.0.1")
	}
	return h
}

// lines returns the file of hosts that all of them have.
func (n *Net) lines(o Options) string {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for _, h := range n.Hosts {
		if h.decoy != "" {
			fmt.Fprintln(&b, h.decoy, h.Name)
		}
		if h.V4.IsValid() {
			fmt.Fprintln(&b, h.V4, h.Name)
		}
		if o.OnlyV6 {
			fmt.Fprintln(&b, h.V6, h.Name)
		}
	}
	return b.String()
}

// HasV6 reports whether the machine has IPv6.
func HasV6() bool {
	_, err := os.Stat("/proc/sys/net/ipv6")
	return err == nil
}

// ip runs the ip command, which must work.
func (n *Net) ip(args ...string) {
	n.t.Helper()
	if err := ip(args...); err != nil {
		n.t.Fatal(err)
	}
}

// skipUnless runs the ip command, and skips the test if it fails.
func (n *Net) skipUnless(what string, args ...string) {
	n.t.Helper()
	if err := ip(args...); err != nil {
		n.t.Skipf("this machine makes no network %s: %v", what, err)
	}
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
