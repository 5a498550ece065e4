package nic_test

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"gomx/transport/nic"
)

func names(boards []nic.Board) []string {
	var list []string
	for _, b := range boards {
		list = append(list, b.Interface)
	}
	return list
}

func TestOrderOfBoards(t *testing.T) {
	boards := nic.Arrange("n7",
		nic.Candidate{Interface: "docker0", Index: 2, Virtual: true, Up: true, Addrs: []string{"172.17.0.1"}},
		nic.Candidate{Interface: "eth2", Index: 9, Up: true, Addrs: []string{"10.2.0.7"}},
		nic.Candidate{Interface: "eth0", Index: 3, Up: false, Addrs: []string{"10.0.0.7"}},
		nic.Candidate{Interface: "eth1", Index: 4, Up: true, Addrs: []string{"10.1.0.7", "fd00::7"}},
	)
	if got, want := names(boards), []string{"eth1", "eth2", "eth0", "docker0", ""}; !slices.Equal(got, want) {
		t.Fatalf("order %q, want %q", got, want)
	}
	for i, b := range boards {
		if b.Number != i {
			t.Errorf("board %d has number %d", i, b.Number)
		}
	}
	if boards[0].Name != "n7:0" || boards[3].Name != "n7:3" {
		t.Errorf("names %q, %q", boards[0].Name, boards[3].Name)
	}
	host := boards[4]
	if host.Kind != nic.Host || host.Name != "localhost:4" || host.ID.String() != "02:00:7f:00:00:01" {
		t.Errorf("the last board is %+v", host)
	}
}

func TestSameAddressOnTwoInterfaces(t *testing.T) {
	boards := nic.Arrange("n7",
		nic.Candidate{Interface: "eth0", Index: 2, Up: true, Addrs: []string{"10.0.0.7"}},
		nic.Candidate{Interface: "eth1", Index: 3, Up: true, Addrs: []string{"10.0.0.7"}},
		nic.Candidate{Interface: "eth2", Index: 4, Up: true, Addrs: []string{"10.0.0.7", "10.0.0.8"}},
	)
	if got, want := names(boards), []string{"eth0", "eth2", ""}; !slices.Equal(got, want) {
		t.Fatalf("boards %q, want %q", got, want)
	}
	if want := nic.IDOf(netip.MustParseAddr("10.0.0.8")); boards[1].ID != want || boards[1].Addrs[0].String() != "10.0.0.8" {
		t.Errorf("eth2 has the id %s and addresses %v", boards[1].ID, boards[1].Addrs)
	}
}

func TestHostnameTooLongForABoardName(t *testing.T) {
	for _, hostname := range []string{
		"node7." + strings.Repeat("example.", 12) + "org",
		strings.Repeat("x", 200),
	} {
		boards := nic.Arrange(hostname, nic.Candidate{Interface: "eth0", Up: true, Addrs: []string{"10.0.0.7"}})
		if len(boards[0].Name) > nic.MaxNameLen {
			t.Errorf("name of %d bytes: %q", len(boards[0].Name), boards[0].Name)
		}
		d := nic.NewDirectoryFor(boards, hostname, nil)
		if id, err := d.Resolve(t.Context(), boards[0].Name); err != nil || id != boards[0].ID {
			t.Errorf("%q resolves to %s, %v", boards[0].Name, id, err)
		}
	}
}

func TestStateOf(t *testing.T) {
	for _, test := range []struct {
		flags net.Flags
		up    bool
		state string
	}{
		{net.FlagUp | net.FlagRunning, true, "up"},
		{net.FlagUp, false, "no carrier"},
		{0, false, "down"},
		{net.FlagRunning, false, "down"},
	} {
		if up, state := nic.StateOf(test.flags); up != test.up || state != test.state {
			t.Errorf("%v: %v %q", test.flags, up, state)
		}
	}
}

// TestBoardsOfThisMachine holds whatever machine it runs on.
func TestBoardsOfThisMachine(t *testing.T) {
	boards, err := nic.Boards()
	if err != nil {
		t.Skipf("this system doesn't list its interfaces: %v", err)
	}
	seen := map[nic.ID]bool{}
	for i, b := range boards {
		t.Logf("%+v", b)
		if b.Number != i || b.Name == "" || b.State == "" || len(b.Addrs) == 0 || b.ID != nic.IDOf(b.Addrs[0]) {
			t.Errorf("board %d is incomplete: %+v", i, b)
		}
		if isHost := b.Kind == nic.Host; isHost != (i == len(boards)-1) {
			t.Errorf("board %d of %d is of kind %s", i, len(boards), b.Kind)
		}
		if (b.Kind == nic.RDMA) != (len(b.RDMA) > 0) {
			t.Errorf("board %d is of kind %s with RDMA devices %q", i, b.Kind, b.RDMA)
		}
		if seen[b.ID] {
			t.Errorf("id %s twice", b.ID)
		}
		seen[b.ID] = true
		for _, addr := range b.Addrs {
			if b.Kind != nic.Host && !addr.IsGlobalUnicast() {
				t.Errorf("board %d has the address %s", i, addr)
			}
		}
	}
}

func TestDirectoryOfThisMachine(t *testing.T) {
	d, err := nic.NewDirectory(nic.Filter{})
	if err != nil {
		t.Skipf("this system doesn't list its interfaces: %v", err)
	}
	first, err := d.Board(0)
	if err != nil {
		t.Fatal(err)
	}
	hostname, err := os.Hostname()
	if err != nil {
		t.Skipf("this system has no hostname: %v", err)
	}
	// A hostname of localhost means the host, by the name of its board.
	if id, err := d.Resolve(t.Context(), hostname); hostname != "localhost" && (err != nil || id != first.ID) {
		t.Errorf("%q resolves to %s, %v; want %s", hostname, id, err, first.ID)
	}
	for _, b := range d.Boards() {
		if id, err := d.Resolve(t.Context(), b.Name); err != nil || id != b.ID {
			t.Errorf("%q resolves to %s, %v; want %s", b.Name, id, err, b.ID)
		}
	}
}
