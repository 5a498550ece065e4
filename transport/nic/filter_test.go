package nic_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"gomx/transport/nic"
)

// machine has two cards, one of them with two addresses, a bridge of a
// container system, and a card that is down.
var machine = []nic.Candidate{
	{Interface: "docker0", Index: 2, Virtual: true, Up: true, Addrs: []string{"172.17.0.1/16"}},
	{Interface: "eth0", Index: 3, Up: true, Addrs: []string{"10.0.0.7/24", "fd00::7/64"}},
	{Interface: "eth1", Index: 4, Up: true, Addrs: []string{"10.1.0.7/24"}},
	{Interface: "eth10", Index: 5, Up: false, Addrs: []string{"192.168.1.7/24"}},
}

func TestFilterSelectsAndOrders(t *testing.T) {
	for filter, want := range map[string]string{
		"":    "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7 eth10=192.168.1.7 docker0=172.17.0.1",
		"all": "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7 eth10=192.168.1.7 docker0=172.17.0.1",

		"10.0.0.0/8":       "eth0=10.0.0.7 eth1=10.1.0.7",
		"10.1.2.3/16":      "eth1=10.1.0.7",
		"0.0.0.0/0":        "eth0=10.0.0.7 eth1=10.1.0.7 eth10=192.168.1.7 docker0=172.17.0.1",
		"::/0":             "eth0=fd00::7",
		"fd00::7":          "eth0=fd00::7",
		"10.1.0.7":         "eth1=10.1.0.7",
		"::ffff:10.1.0.7":  "eth1=10.1.0.7",
		"eth1":             "eth1=10.1.0.7",
		"eth1*":            "eth1=10.1.0.7 eth10=192.168.1.7",
		"eth*":             "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7 eth10=192.168.1.7",
		"*":                "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7 eth10=192.168.1.7 docker0=172.17.0.1",
		" eth1 , docker0 ": "eth1=10.1.0.7 docker0=172.17.0.1",

		// In the order of the entries, and so do the addresses of a board.
		"eth10,eth1,eth0":       "eth10=192.168.1.7 eth1=10.1.0.7 eth0=10.0.0.7,fd00::7",
		"docker0,10.0.0.0/8":    "docker0=172.17.0.1 eth0=10.0.0.7 eth1=10.1.0.7",
		"fd00::/8,10.0.0.0/8":   "eth0=fd00::7,10.0.0.7 eth1=10.1.0.7",
		"10.0.0.0/8,eth0":       "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7",
		"172.0.0.0/8,10.1.0.7":  "docker0=172.17.0.1 eth1=10.1.0.7",
		"10.1.0.0/16,fd00::/64": "eth1=10.1.0.7 eth0=fd00::7",

		// Only negations: all but those.
		"!docker0":           "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7 eth10=192.168.1.7",
		"!docker*,!eth10":    "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7",
		"!fd00::/8,!eth1*":   "eth0=10.0.0.7 docker0=172.17.0.1",
		"!10.0.0.7":          "eth0=fd00::7 eth1=10.1.0.7 eth10=192.168.1.7 docker0=172.17.0.1",
		"!lo,!127.0.0.0/8":   "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7 eth10=192.168.1.7 docker0=172.17.0.1",
		"10.0.0.0/8,!eth1":   "eth0=10.0.0.7 eth1=10.1.0.7", // the first entry that fits counts
		"!eth1,10.0.0.0/8":   "eth0=10.0.0.7",
		"!10.1.0.0/16,eth*":  "eth0=10.0.0.7,fd00::7 eth10=192.168.1.7",
		"10.0.0.0/8,eth0,!d": "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7",

		// The host alone, if that is what was asked for.
		"lo":          "",
		" all ":       "eth0=10.0.0.7,fd00::7 eth1=10.1.0.7 eth10=192.168.1.7 docker0=172.17.0.1",
		"127.0.0.0/8": "",
		"!eth*,lo":    "",
	} {
		f, err := nic.ParseFilter(filter)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
			continue
		}
		boards, _, err := nic.Select(f, "n7", machine...)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
		}
		if last := boards[len(boards)-1]; last.Kind != nic.Host || last.Number != len(boards)-1 {
			t.Errorf("%q: the last board is %+v", filter, last)
		}
		if got := shown(boards); got != want {
			t.Errorf("%q selects %q, want %q", filter, got, want)
		}
	}
}

func shown(boards []nic.Board) string {
	var list []string
	for _, b := range boards {
		if b.Kind == nic.Host {
			continue
		}
		var addrs []string
		for _, addr := range b.Addrs {
			addrs = append(addrs, addr.String())
		}
		list = append(list, b.Interface+"="+strings.Join(addrs, ","))
	}
	return strings.Join(list, " ")
}

func TestSelectedBoardIsNamedByItsFirstAddress(t *testing.T) {
	f, err := nic.ParseFilter("fd00::/8")
	if err != nil {
		t.Fatal(err)
	}
	boards, out, err := nic.Select(f, "n7", machine...)
	if err != nil || boards[0].ID != idOf("fd00::7") || boards[0].ID>>40 != 6 {
		t.Errorf("%+v, %v", boards[0], err)
	}
	if got := boards[0].Subnets; !slices.Equal(got, []netip.Prefix{netip.MustParsePrefix("fd00::/64")}) {
		t.Errorf("subnets %v", got)
	}
	want := []string{"172.17.0.1", "10.0.0.7", "10.1.0.7", "192.168.1.7"}
	if got := strings.Split(strings.Trim(fmt.Sprint(out), "[]"), " "); !slices.Equal(got, want) {
		t.Errorf("left out %v, want %v", got, want)
	}
}

func TestFilterThatLeavesNothing(t *testing.T) {
	for _, filter := range []string{"10.9.0.0/16", "wlan0", "!*", "!eth*,!docker0", "fe80::/10", "!lo,!*", "et"} {
		f, err := nic.ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		boards, _, err := nic.Select(f, "n7", machine...)
		if !errors.Is(err, nic.ErrNoneSelected) || len(boards) != 1 {
			t.Errorf("%q: %d boards, %v", filter, len(boards), err)
			continue
		}
		for _, part := range []string{f.String(), "eth0 (10.0.0.7, fd00::7)", "docker0 (172.17.0.1)", "eth10 (192.168.1.7)", "lo"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %q is not in %q", filter, part, err)
			}
		}
	}
	for filter, bad := range map[string]bool{"": false, "!docker0": false, "!*": false, "lo": false, "eth0": true, "10.0.0.0/8": true} {
		f, err := nic.ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := nic.Select(f, "n7"); errors.Is(err, nic.ErrNoneSelected) != bad {
			t.Errorf("%q on a machine without interfaces: %v", filter, err)
		}
	}
}

func TestFilterRefusesNonsense(t *testing.T) {
	for _, filter := range []string{
		",", "eth0,", ",eth0", "!", "!!eth0", "10.0.0.0/33", "10.0.0/8", "10.0.0.300", "10.0.0", "1234", "10.0.0.0/", "/8",
		"eth0/24", "e*h0", "**", "fe80::1%eth0", "::ffff:10.0.0.0/104", "eth 0", "fd00::/129", "eth0:1", ".", "..",
		"a\x00b", strings.Repeat("x", 64), "eth0,all,10.0.0.1/99",
	} {
		f, err := nic.ParseFilter(filter)
		if err == nil || len(err.Error()) > 250 {
			t.Errorf("%q is taken as %q, %v", filter, f, err)
		}
	}
}

// FuzzFilter compares the selection with a twin that reads the entries of the
// text anew for each address.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		"10.0.0.0/8,eth0,!docker0", "!eth*", "fd00::7", "*", "all", "!*,lo", "::/0,0.0.0.0/0", "eth1,!10.0.0.0/8", "", "10.1.0.7,,",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := nic.ParseFilter(text)
		if err != nil {
			return
		}
		again, err := nic.ParseFilter(filter.String())
		if err != nil || again.String() != filter.String() {
			t.Fatalf("%q is %q, read back as %q, %v", text, filter, again, err)
		}
		boards, out, err := nic.Select(filter, "n7", machine...)
		if err != nil && (!errors.Is(err, nic.ErrNoneSelected) || len(boards) != 1) {
			t.Fatalf("%q: %d boards, %v", text, len(boards), err)
		}
		total := len(out)
		for i, b := range boards {
			if b.Number != i || (b.Kind == nic.Host) != (i == len(boards)-1) {
				t.Fatalf("%q: %+v", text, boards)
			}
			if b.Kind == nic.Host {
				continue
			}
			total += len(b.Addrs)
			if b.ID != nic.IDOf(b.Addrs[0]) {
				t.Fatalf("%q: %+v", text, b)
			}
			for _, addr := range b.Addrs {
				if !twinSelects(filter.String(), b.Interface, addr) {
					t.Fatalf("%q selects %s of %s", text, addr, b.Interface)
				}
			}
		}
		for _, addr := range out {
			if twinSelects(filter.String(), interfaceOf(addr), addr) {
				t.Fatalf("%q leaves %s out", text, addr)
			}
		}
		if total != 5 {
			t.Fatalf("%q: %d addresses of 5", text, total)
		}
	})
}

func interfaceOf(addr netip.Addr) string {
	for _, c := range machine {
		for _, own := range c.Addrs {
			if netip.MustParsePrefix(own).Addr() == addr {
				return c.Interface
			}
		}
	}
	return ""
}

func twinSelects(text, name string, addr netip.Addr) bool {
	if text == "all" {
		return true
	}
	onlyNegations := true
	for entry := range strings.SplitSeq(text, ",") {
		bare, not := strings.CutPrefix(entry, "!")
		onlyNegations = onlyNegations && not
		begin, open := strings.CutSuffix(bare, "*")
		fits := bare == name || open && strings.HasPrefix(name, begin) || bare == addr.String()
		if p, err := netip.ParsePrefix(bare); err == nil && p.Contains(addr) {
			fits = true
		}
		if fits {
			return !not
		}
	}
	return onlyNegations
}
