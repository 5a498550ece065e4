package mx_test

import (
	"os"
	"strings"
	"testing"

	"gomx/mx"
)

func TestIV11And12NamesGoBothWays(t *testing.T) {
	initialize(t)
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range boards {
		name, err := mx.NICIDToHostname(uint64(b.ID))
		if err != nil || name != b.Name || len(name) >= mx.MaxHostnameLen {
			t.Errorf("board %d: name %q, want %q, %v", i, name, b.Name, err)
		}
		if id, err := mx.HostnameToNICID(name); err != nil || id != uint64(b.ID) {
			t.Errorf("%s: id %#x, want %v, %v", name, id, b.ID, err)
		}
		if id, err := mx.HostnameToNICID(b.ID.String()); err != nil || id != uint64(b.ID) {
			t.Errorf("%v: id %#x, %v", b.ID, id, err)
		}
	}
}

func TestIV11HostAlone(t *testing.T) {
	initialize(t)
	want, err := mx.BoardNumberToNICID(0)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Skipf("this machine has no host name: %v", err)
	}
	for _, name := range []string{"localhost", "Localhost", "LOCALHOST.", host, strings.ToUpper(host), host + ":0"} {
		if id, err := mx.HostnameToNICID(name); err != nil || id != want {
			t.Errorf("%s: %#x, want %#x, %v", name, id, want, err)
		}
	}
}

func TestIV11UnknownNames(t *testing.T) {
	initialize(t)
	host, _ := os.Hostname()
	for _, name := range []string{"", ":", ":0", host + ":99", host + ":-1", "no such host", "nobody.invalid", strings.Repeat("x", 300)} {
		id, err := mx.HostnameToNICID(name)
		refused(t, err, mx.ErrHostNotFound, "hostname to NIC id", name)
		if id != 0 {
			t.Errorf("%q: id %#x", name, id)
		}
	}
}

func TestIV12UnknownNIC(t *testing.T) {
	initialize(t)
	for _, id := range []uint64{0, 1, ^uint64(0)} {
		name, err := mx.NICIDToHostname(id)
		refused(t, err, mx.ErrHostNotFound, "NIC id to hostname")
		if name != "" {
			t.Errorf("%#x: %q", id, name)
		}
	}
}

func TestIV21And22BoardNumbersGoBothWays(t *testing.T) {
	initialize(t)
	boards, err := mx.Boards()
	if err != nil || len(boards) == 0 {
		t.Fatal(boards, err)
	}
	for i := range uint32(len(boards)) {
		id, err := mx.BoardNumberToNICID(i)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := mx.NICIDToBoardNumber(id); err != nil || back != i {
			t.Errorf("board %d became %d, %v", i, back, err)
		}
	}
}

func TestIV2UnknownBoards(t *testing.T) {
	initialize(t)
	for _, board := range []uint32{32, 255, 256, 300, mx.AnyNIC} {
		_, err := mx.BoardNumberToNICID(board)
		refused(t, err, mx.ErrBoardUnknown, "board number to NIC id")
	}
	for _, id := range []uint64{0, 1, ^uint64(0)} {
		_, err := mx.NICIDToBoardNumber(id)
		refused(t, err, mx.ErrBoardUnknown, "NIC id to board number")
	}
}
