package nic_test

import (
	"net/netip"
	"slices"
	"testing"

	"gomx/transport/nic"
)

// A host that is asked for by its IPv6 address and answers under the id of its
// IPv4 address is found by both, and at both.
func TestBoardUnderAnotherID(t *testing.T) {
	d, _ := testDirectory()
	asked, at := mustResolve(t, d, "n9"), netip.MustParseAddr("fd00::9")
	actual := idOf("10.0.0.9")
	if got := d.Actual(asked); got != asked {
		t.Errorf("%v leads to %v before anybody has answered", asked, got)
	}
	d.LearnOther(actual, at)
	if got := d.Actual(asked); got != actual {
		t.Errorf("%v leads to %v, want %v", asked, got, actual)
	}
	if got := d.Actual(actual); got != actual {
		t.Errorf("%v leads to %v", actual, got)
	}
	if got := d.Addrs(actual); !slices.Contains(got, at) || !slices.Contains(got, netip.MustParseAddr("10.0.0.9")) {
		t.Errorf("addresses %v, want both", got)
	}
	// The host comes back as another one, and then as the one that was asked for.
	other := idOf("10.0.0.99")
	d.LearnOther(other, at)
	if got := d.Actual(asked); got != other {
		t.Errorf("%v leads to %v, want %v", asked, got, other)
	}
	d.LearnOther(asked, at)
	if got := d.Actual(asked); got != asked {
		t.Errorf("%v leads to %v, want itself", asked, got)
	}
}

func TestNobodyTakesAnIDOver(t *testing.T) {
	d, _ := testDirectory()
	evil, good, at := idOf("10.6.6.6"), idOf("fd00::9"), netip.MustParseAddr("fd00::9")
	d.Learn(good, at, "")
	d.LearnOther(evil, at)
	if got := d.Actual(good); got != good {
		t.Errorf("%v has answered for itself, and leads to %v", good, got)
	}
	local, own := idOf("10.0.0.7"), netip.MustParseAddr("10.0.0.7")
	for _, c := range []struct {
		id nic.ID
		at netip.Addr
	}{{evil, own}, {evil, netip.MustParseAddr("127.0.0.1")}, {local, netip.MustParseAddr("fd00::66")}, {0, at}, {evil, netip.Addr{}}} {
		d.LearnOther(c.id, c.at)
		if id := nic.IDOf(c.at); d.Actual(id) != id {
			t.Errorf("%v leads to %v", id, d.Actual(id))
		}
	}
	if got := d.Actual(local); got != local {
		t.Errorf("the local board leads to %v", got)
	}
}

// The id of an alias leads to nowhere else once it has answered for itself.
func TestAliasThatAnswers(t *testing.T) {
	d, _ := testDirectory()
	alias, at := idOf("fd00::9"), netip.MustParseAddr("fd00::9")
	d.LearnOther(idOf("10.0.0.9"), at)
	d.Learn(alias, at, "")
	if got := d.Actual(alias); got != alias {
		t.Errorf("%v leads to %v", alias, got)
	}
}

func TestAliasesAreBounded(t *testing.T) {
	d, _ := testDirectory()
	id := idOf("10.0.0.9")
	at := netip.MustParseAddr("fd01::")
	known := 0
	var all []nic.ID
	for range nic.MaxAliases + 100 {
		at = at.Next()
		d.LearnOther(id, at)
		all = append(all, nic.IDOf(at))
	}
	for _, alias := range all {
		if d.Actual(alias) == id {
			known++
		}
	}
	if known != nic.MaxAliases || d.Actual(all[len(all)-1]) != id {
		t.Errorf("%d aliases are known, want %d and the newest among them", known, nic.MaxAliases)
	}
}
