//go:build linux

package netns_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// lengths are those that pingpong measures.
var lengths = []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}

// pingpong runs a receiver on host b, and a sender on a that reaches it by a name,
// and checks that all was measured over TCP.
func pingpong(t *testing.T, tool string, a, b *netns.Host, name string, env ...string) {
	t.Helper()
	receiver := runOn(t, b, env, tool, "-s", "-pin", "none")
	receiver.Says("Starting pingpong receiver on ")
	sender := runOn(t, a, env, tool, "-d", name, "-S", "1", "-E", "1000001", "-M", "10", "-N", "20", "-W", "2", "-V", "-json", "-pin", "none")
	lines, status := sender.Ends()
	if status != 0 {
		t.Fatalf("status %d: %q", status, lines)
	}
	var measured []int
	for _, line := range lines {
		var result struct {
			Transport string
			Length    int
		}
		if err := json.Unmarshal([]byte(line), &result); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if result.Transport != "tcp" {
			t.Errorf("%d bytes went over %s", result.Length, result.Transport)
		}
		measured = append(measured, result.Length)
	}
	receiver.Kill()
	if !slices.Equal(measured, lengths) {
		t.Errorf("measured %v, not %v", measured, lengths)
	}
}

// The programs of the house work from host to host.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this builds programs")
	}
	t.Parallel()
	dir := proc.Build(t, "cmd/mx_pingpong", "examples/manytoone")
	tool := filepath.Join(dir, "mx_pingpong")
	for name, f := range map[string]func(t *testing.T, program string){
		"addresses": pingpongByAddresses, "only IPv6": pingpongOnlyV6, "decoys": pingpongWithDecoys,
	} {
		t.Run("mx_pingpong, "+name, func(t *testing.T) {
			t.Parallel()
			f(t, tool)
		})
	}
	t.Run("manytoone", func(t *testing.T) { manyToOne(t, filepath.Join(dir, "manytoone")) })
}

// pingpongByAddresses has two hosts measure with each other by name, by IPv4
// address and by IPv6 address.
func pingpongByAddresses(t *testing.T, tool string) {
	n := netns.New(t, netns.Options{Hosts: 2})
	a, b := n.Hosts[0], n.Hosts[1]
	t.Run("name", func(t *testing.T) { pingpong(t, tool, a, b, b.Name) })
	t.Run("name and board", func(t *testing.T) { pingpong(t, tool, a, b, b.Name+":0") })
	t.Run("IPv4", func(t *testing.T) { pingpong(t, tool, b, a, a.V4.String()) })
	t.Run("IPv6", func(t *testing.T) {
		if !netns.HasV6() {
			t.Skip("this machine has no IPv6")
		}
		pingpong(t, tool, a, b, b.V6.String())
	})
	t.Run("secret", func(t *testing.T) { pingpong(t, tool, a, b, b.Name, "MX_SECRET=between us") })
}

// pingpongOnlyV6 has hosts without IPv4.
func pingpongOnlyV6(t *testing.T, tool string) {
	n := netns.New(t, netns.Options{Hosts: 2, OnlyV6: true})
	a, b := n.Hosts[0], n.Hosts[1]
	t.Run("name", func(t *testing.T) { pingpong(t, tool, a, b, b.Name) })
	t.Run("address", func(t *testing.T) { pingpong(t, tool, b, a, a.V6.String()) })
}

// pingpongWithDecoys has hosts with a second interface, whose addresses lead
// nowhere, or to the host itself. MX_NET names the one that counts.
func pingpongWithDecoys(t *testing.T, tool string) {
	for name, decoy := range map[string]netns.Decoy{"dead end": netns.DeadEnd, "twins": netns.Twins} {
		t.Run(name, func(t *testing.T) {
			n := netns.New(t, netns.Options{Hosts: 2, Decoy: decoy})
			a, b := n.Hosts[0], n.Hosts[1]
			for _, net := range []string{"10.77.0.0/16", a.Interface(), "!aux*"} {
				t.Run(net, func(t *testing.T) {
					pingpong(t, tool, a, b, b.Name, "MX_NET="+net)
					pingpong(t, tool, b, a, a.V4.String(), "MX_NET="+net)
				})
			}
			t.Run("address without MX_NET", func(t *testing.T) { pingpong(t, tool, a, b, b.V4.String()) })
		})
	}
}

// wrongInterface is what docs/troubleshooting.md shows of a host that was asked for by an address that every host has.
const wrongInterface = "mx: connect to …:1/1 (endpoint …:0/0): connection failed: tcp: no such endpoint is open: " +
	"172.30.0.1:20001: connection refused; start the other side first, or check its endpoint id"

// TestWrongInterface has hosts whose names lead to the address of a container bridge alone, which is the same on each. A
// host that asks for another one asks itself then; MX_NET and the right address reach it.
func TestWrongInterface(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), wrongInterface) {
		t.Errorf("docs/troubleshooting.md does not show\n%s", wrongInterface)
	}
	tool := filepath.Join(proc.Build(t, "cmd/mx_pingpong"), "mx_pingpong")
	n := netns.New(t, netns.Options{Hosts: 2, Decoy: netns.Twins})
	a, b := n.Hosts[0], n.Hosts[1]
	a.WriteHosts("127.0.0.1 localhost\n172.30.0.1 " + b.Name + "\n")
	receiver := runOn(t, b, nil, tool, "-s", "-pin", "none")
	receiver.Says("Starting pingpong receiver on ")
	lines, status := runOn(t, a, nil, tool, "-d", b.Name, "-pin", "none").Ends()
	said := strings.Join(lines, "\n")
	begin, rest, _ := strings.Cut(wrongInterface, "…")
	middle, end, _ := strings.Cut(rest, "…")
	if status != 1 || !strings.Contains(said, begin+a.Name+middle+a.Name+end) {
		t.Errorf("status %d: %q", status, said)
	}
	receiver.Kill()
	a.WriteHosts("127.0.0.1 localhost\n172.30.0.1 " + b.Name + "\n" + b.V4.String() + " " + b.Name + "\n")
	pingpong(t, tool, a, b, b.Name, "MX_NET=!aux*")
}

// manyToOne has two hosts send to a third.
func manyToOne(t *testing.T, tool string) {
	n := netns.New(t, netns.Options{Hosts: 3})
	const count = 20_000
	collector := runOn(t, n.Hosts[0], nil, tool, "-senders", "2")
	collector.Says("collecting on ")
	var senders []proc.Program
	for _, h := range n.Hosts[1:] {
		senders = append(senders, runOn(t, h, nil, tool, "-to", n.Hosts[0].Name, "-n", strconv.Itoa(count)))
	}
	for _, p := range senders {
		if lines, status := p.Ends(); status != 0 {
			t.Errorf("a sender ends with %d: %q", status, lines)
		}
	}
	lines, status := collector.Ends()
	if want := "2 senders, 40000 numbers, sum 400020000"; status != 0 || strings.Join(lines, "\n") != want {
		t.Errorf("the collector ends with %d: %q, not %q", status, lines, want)
	}
}
