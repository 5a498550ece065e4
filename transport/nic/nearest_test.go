package nic_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gomx/transport/nic"
)

// subnetDirectory is on a host with two networks in the order 10.1, 10.0, a third
// whose card is down, and an address that its filter leaves out.
func subnetDirectory() (*nic.Directory, *zone) {
	z := &zone{hosts: map[string][]string{
		"both":    {"10.0.0.8", "10.1.0.8"},
		"far":     {"172.16.0.8", "10.9.0.8", "fd09::8"},
		"mixed":   {"10.9.0.8", "fd00::8", "10.2.0.8", "10.0.0.8", "127.0.1.1"},
		"six":     {"fd00::9", "10.9.0.9"},
		"clone":   {"127.0.1.1"},
		"alias":   {"127.0.0.1", "::1"},
		"n7.here": {"127.0.1.1"},
		"n7.eth9": {"10.7.0.7"},
		"gone":    {"10.7.0.7"},
		"myhost-loopback.localdomain": {
			"::1",
		},
	}}
	boards := nic.Arrange("n7",
		nic.Candidate{Interface: "eth1", Index: 2, Up: true, Addrs: []string{"10.1.0.7/24"}},
		nic.Candidate{Interface: "eth0", Index: 3, Up: true, Addrs: []string{"10.0.0.7/24", "fd00::7/64"}},
		nic.Candidate{Interface: "eth2", Index: 4, Up: false, Addrs: []string{"10.2.0.7/24"}},
	)
	hidden := []netip.Addr{netip.MustParseAddr("10.7.0.7")}
	return nic.NewDirectoryBeside(hidden, boards, "n7", z.lookup), z
}

func texts(addrs []netip.Addr) (list []string) {
	for _, addr := range addrs {
		list = append(list, addr.String())
	}
	return list
}

func TestNameStandsForTheAddressInASharedSubnet(t *testing.T) {
	for name, want := range map[string][]string{
		"both":    {"10.1.0.8", "10.0.0.8"},
		"both:1":  {"10.1.0.8", "10.0.0.8"}, // the id is that of 10.0.0.8
		"far":     {"10.9.0.8", "172.16.0.8", "fd09::8"},
		"mixed":   {"10.0.0.8", "fd00::8", "10.2.0.8", "10.9.0.8"},
		"mixed:1": {"10.0.0.8", "fd00::8", "10.2.0.8", "10.9.0.8"},
		"six":     {"fd00::9", "10.9.0.9"},
	} {
		d, _ := subnetDirectory()
		id := mustResolve(t, d, name)
		host, board, _ := strings.Cut(name, ":")
		first := want[0]
		if board == "1" {
			first = want[1]
		}
		if id != idOf(first) {
			t.Errorf("%s is %s, want the id of %s", name, id, first)
		}
		if called, err := d.Name(id); err != nil || called != host+":"+cmp.Or(board, "0") {
			t.Errorf("%s is called %s, %v", name, called, err)
		}
		if got := texts(d.Addrs(id)); !sameMembers(got, want) || got[0] != first {
			t.Errorf("%s can be tried at %v, want %v", name, got, want)
		}
	}
}

func sameMembers(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func TestCandidatesInSharedSubnetsComeFirst(t *testing.T) {
	d, _ := subnetDirectory()
	far, near := netip.MustParseAddr("172.16.0.8"), netip.MustParseAddr("10.0.0.99")
	nearest := netip.MustParseAddr("10.1.0.99")
	id := nic.IDOf(far)
	d.Learn(id, near, "")
	d.Learn(id, netip.MustParseAddr("10.2.0.99"), "") // that card is down
	d.Learn(id, nearest, "")
	if got, want := texts(d.Addrs(id)), []string{"10.1.0.99", "10.0.0.99", "172.16.0.8", "10.2.0.99"}; !slices.Equal(got, want) {
		t.Errorf("tried at %v, want %v", got, want)
	}
	d.Learn(nic.IDOf(near), nearest, "")
	if got, want := texts(d.Addrs(nic.IDOf(near))), []string{"10.0.0.99", "10.1.0.99"}; !slices.Equal(got, want) {
		t.Errorf("tried at %v, want %v", got, want)
	}
}

// Another address of a host is no candidate once a peer has proven that it is
// another board.
func TestAddressOfAnotherBoardIsNoCandidate(t *testing.T) {
	d, _ := subnetDirectory()
	other := netip.MustParseAddr("10.0.0.8")
	d.Learn(nic.IDOf(other), other, "")
	if got := texts(d.Addrs(mustResolve(t, d, "both"))); !slices.Equal(got, []string{"10.1.0.8"}) {
		t.Errorf("tried at %v", got)
	}
}

func TestNameThatLeadsBackToThisHost(t *testing.T) {
	d, _ := subnetDirectory()
	for _, name := range []string{"clone", "clone:0", "alias"} {
		id, err := d.Resolve(t.Context(), name)
		if !errors.Is(err, nic.ErrHostNotFound) || id != 0 {
			t.Errorf("%s is %s, %v", name, id, err)
			continue
		}
		for _, part := range []string{"loopback", "127.0.", "n7", "/etc/hosts", "localhost", name} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %q", part, err)
			}
		}
	}
	for name, want := range map[string]string{"n7.here": "10.1.0.7", "n7.eth9": "10.1.0.7", "myhost-loopback.localdomain": "10.1.0.7", "gone": "10.7.0.7"} {
		if id := mustResolve(t, d, name); id != idOf(want) {
			t.Errorf("%s is %s, want the id of %s", name, id, want)
		}
	}
}

func TestUnknownHostHasARemedy(t *testing.T) {
	lookup := func(notFound bool) *nic.Directory {
		return nic.NewDirectoryFor(nil, "n7", func(context.Context, string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "oops", Name: "n9", IsNotFound: notFound, IsTemporary: !notFound}
		})
	}
	for notFound, parts := range map[bool][]string{true: {"n9", "oops", "/etc/hosts", "address"}, false: {"n9", "oops", "name server", "address"}} {
		_, err := lookup(notFound).Resolve(t.Context(), "n9")
		var dns *net.DNSError
		if !errors.Is(err, nic.ErrHostNotFound) || !errors.As(err, &dns) {
			t.Fatalf("%v", err)
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %q", part, err)
			}
		}
	}
}

// A name server that does not answer is named once, without the steps of asking it.
func TestNameServerThatDoesNotAnswer(t *testing.T) {
	const server = "10.9.9.9:53"
	dial := &net.OpError{Op: "dial", Net: "udp", Addr: net.UDPAddrFromAddrPort(netip.MustParseAddrPort(server)), Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
	d := nic.NewDirectoryFor(nil, "n7", func(context.Context, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: dial.Error(), Name: "n9", Server: server, IsTemporary: true}
	})
	_, err := d.Resolve(t.Context(), "n9")
	if want := `host not found: "n9": name server 10.9.9.9:53: network is unreachable; check the name server, or use the host's address`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A port in the place of a board's number is told from a host that is not found.
func TestBoardThatAHostLacksInWords(t *testing.T) {
	d, _ := testDirectory()
	for name, want := range map[string]string{
		"n7:5000":     `"n7:5000": there is no board 5000, the host has boards 0 to 2: the number after the colon is that of a board, not of a port`,
		"n8:5000":     `"n8:5000": there is no board 5000, the host has boards 0 to 2: the number after the colon is that of a board, not of a port`,
		"10.2.3.4:80": `"10.2.3.4:80": there is no board 80, the host has board 0 alone: the number after the colon is that of a board, not of a port`,
	} {
		if _, err := d.Resolve(t.Context(), name); err == nil || err.Error() != want || !errors.Is(err, nic.ErrBoardUnknown) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
