package nic_test

import (
	"net/netip"
	"testing"

	"gomx/transport/nic"
)

func TestIDOfAddress(t *testing.T) {
	for _, test := range []struct{ addr, id string }{
		{"127.0.0.1", "02:00:7f:00:00:01"},
		{"10.1.2.255", "02:00:0a:01:02:ff"},
		{"::ffff:10.1.2.255", "02:00:0a:01:02:ff"},
		// Frozen: hosts of different versions must agree.
		{"fd00::2", "06:ab:c6:0c:b7:7d"},
	} {
		id := nic.IDOf(netip.MustParseAddr(test.addr))
		if id.String() != test.id {
			t.Errorf("IDOf(%s) = %s, want %s", test.addr, id, test.id)
		}
	}
	if id := nic.IDOf(netip.Addr{}); id != 0 {
		t.Errorf("IDOf of no address = %s", id)
	}
	plain, zoned := netip.MustParseAddr("fe80::1"), netip.MustParseAddr("fe80::1%eth7")
	if nic.IDOf(plain) != nic.IDOf(zoned) {
		t.Error("the zone, which differs from host to host, changes the id")
	}
}

func TestAddressOfID(t *testing.T) {
	for _, test := range []struct {
		id   nic.ID
		addr string
	}{
		{0x02007f000001, "127.0.0.1"},
		{0x0200ffffffff, "255.255.255.255"},
		{0, ""},
		{0x06007f000001, ""},
		{0x02017f000001, ""},
		{0x1_02007f000001, ""},
		{0x7f000001, ""},
	} {
		addr, ok := test.id.Addr()
		if ok != (test.addr != "") || ok && addr.String() != test.addr {
			t.Errorf("%s: address %v %v, want %q", test.id, addr, ok, test.addr)
		}
	}
}

func TestParseID(t *testing.T) {
	for text, want := range map[string]nic.ID{
		"0x02007f000001":     0x02007f000001,
		"0X2007F000001":      0x02007f000001,
		"02:00:7F:00:00:01":  0x02007f000001,
		"0xffffffffffffffff": ^nic.ID(0),
	} {
		if id, err := nic.ParseID(text); err != nil || id != want {
			t.Errorf("ParseID(%q) = %s, %v", text, id, err)
		}
	}
	for _, text := range []string{
		"", "0x", "0x10000000000000000", "0xg", "0x-1", "02007f000001", "02:00:7f:00:00", "02:00:7f:00:00:1",
		"02:00:7f:00:00:0g", "02-00-7f-00-00-01", "+2:00:7f:00:00:01", "02:00:7f:00:00:01:",
	} {
		if id, err := nic.ParseID(text); err == nil {
			t.Errorf("ParseID(%q) = %s", text, id)
		}
	}
}

func FuzzID(f *testing.F) {
	f.Add(uint64(0))
	f.Add(uint64(0x02007f000001))
	f.Add(^uint64(0))
	f.Fuzz(func(t *testing.T, value uint64) {
		id := nic.ID(value)
		if back, err := nic.ParseID(id.String()); err != nil || back != id {
			t.Errorf("%s read back as %s, %v", id, back, err)
		}
		if addr, ok := id.Addr(); ok && nic.IDOf(addr) != id {
			t.Errorf("%s holds %s, which has the id %s", id, addr, nic.IDOf(addr))
		}
	})
}
