package nic_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gomx/transport/nic"
)

func TestResolve(t *testing.T) {
	d, _ := testDirectory()
	for name, want := range map[string]nic.ID{
		"n7": idOf("10.0.0.7"), "N7.": idOf("10.0.0.7"), "n7:0": idOf("10.0.0.7"), "n7.:1": idOf("10.1.0.7"),
		"n7:2": idOf("127.0.0.1"), "n7:002": idOf("127.0.0.1"),
		"localhost": idOf("127.0.0.1"), "LOCALHOST.": idOf("127.0.0.1"), "a.localhost": idOf("127.0.0.1"),
		"localhost:1": idOf("10.1.0.7"), "localhost:0": idOf("10.0.0.7"),

		// Full names of this host.
		"n7.cluster": idOf("10.0.0.7"), "n7.cluster:1": idOf("10.1.0.7"), "ip6-localhost": idOf("10.0.0.7"),
		"n7.example": idOf("10.0.0.7"), "n7.example:1": idOf("10.1.0.7"),
		"n7-second": idOf("10.1.0.7"), "n7.elsewhere": idOf("10.9.0.7"),

		// Addresses of this host.
		"10.0.0.7": idOf("10.0.0.7"), "10.1.0.7": idOf("10.1.0.7"), "fd00::7": idOf("10.0.0.7"),
		"[fd00::7]:1": idOf("10.1.0.7"), "::ffff:10.1.0.7": idOf("10.1.0.7"), "10.1.0.7:0": idOf("10.0.0.7"),
		"127.0.0.1": idOf("127.0.0.1"), "127.5.5.5": idOf("127.0.0.1"), "::1": idOf("127.0.0.1"),
		"127.0.0.1:1": idOf("10.1.0.7"),

		// Other hosts: addresses in ascending order.
		"n8": idOf("10.0.0.8"), "n8:0": idOf("10.0.0.8"), "n8:1": idOf("10.1.0.8"), "n8.:2": idOf("fd00::8"),
		"n9": idOf("fd00::9"),

		"10.2.3.4": idOf("10.2.3.4"), "10.2.3.4:0": idOf("10.2.3.4"), "fd00::5": idOf("fd00::5"),
		"[fd00::5]": idOf("fd00::5"), "[fd00::5]:0": idOf("fd00::5"), "fe80::5%eth0": idOf("fe80::5"),
		"::1%eth0": idOf("127.0.0.1"), "fd00::5%x]": idOf("fd00::5"),

		"0x02007f000001": idOf("127.0.0.1"), "02:00:7F:00:00:01": idOf("127.0.0.1"),
		"02:00:7f:00:00:09": idOf("127.0.0.1"), "0x163e000001": 0x163e000001,
	} {
		if id, err := d.Resolve(t.Context(), name); err != nil || id != want {
			t.Errorf("%q resolves to %s, %v; want %s", name, id, err, want)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	d, _ := testDirectory()
	long := strings.Repeat("a", nic.MaxNameLen)
	for name, reason := range map[string]error{
		"":      nil,
		long:    errNoSuchHost,
		"other": errNoSuchHost, "other:1": errNoSuchHost,
		"n7:3": nic.ErrBoardUnknown, "n7:256": nic.ErrBoardUnknown, "n7:257": nic.ErrBoardUnknown,
		"n7:4294967296": nic.ErrBoardUnknown, "n7:18446744073709551616": nic.ErrBoardUnknown,
		"n8:3": nic.ErrBoardUnknown, "n8:256": nic.ErrBoardUnknown, "10.2.3.4:1": nic.ErrBoardUnknown,
		"n7.cluster:3": nic.ErrBoardUnknown, "127.0.0.1:256": nic.ErrBoardUnknown,
		long + "a": nil, "n7:" + strings.Repeat("0", nic.MaxNameLen): nil,
		"n7:": nil, "n7:x": nil, "n7:+1": nil, "n7:-1": nil, "n7: 1": nil, "n7:1:1": nil, ":1": nil, ":": nil, ".": nil,
		"a b": nil, "a\x00": nil, "a/b": nil, "-d": nil, "a..b": nil, "ä": nil, "%eth0": nil,
		"127.1": nil, "256.0.0.1": nil, "12345678": nil, "0x7f000001:0": nil, "a.0x7f": nil,
		"[fd00::7": nil, "[fd00::7]1": nil, "[fd00::7]:": nil, "[10.0.0.7]": nil, "[]": nil, "[": nil, "fd00::7]": nil,
		"0.0.0.0": nil, "::": nil, "224.0.0.1": nil, "ff02::1": nil, "::%eth0": nil, "ff02::1%eth0": nil, "fe80::1%]": nil, "255.255.255.255": nil, "0x0": nil,
		"linklocal": nil, "nothing": nil,
	} {
		id, err := d.Resolve(t.Context(), name)
		if !errors.Is(err, nic.ErrHostNotFound) || id != 0 {
			t.Errorf("%q resolves to %s, %v", name, id, err)
			continue
		}
		if reason != nil && !errors.Is(err, reason) {
			t.Errorf("%q: %v, want the reason %v", name, err, reason)
		}
		if len(name) <= nic.MaxNameLen && isPrintable(name) && !strings.Contains(err.Error(), name) {
			t.Errorf("%q isn't named in %q", name, err)
		}
		if len(err.Error()) > 300 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

func isPrintable(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' })
}

func TestOwnNameAsksNobody(t *testing.T) {
	d, z := testDirectory()
	for _, name := range []string{"n7", "N7", "n7.", "n7:1", "localhost", "localhost:0", "10.0.0.7", "::1", "10.2.3.4"} {
		mustResolve(t, d, name)
	}
	if len(z.asked) != 0 {
		t.Errorf("asked for %q", z.asked)
	}
	full := nic.NewDirectoryFor(d.Boards(), "n7.cluster.example", z.lookup)
	for _, name := range []string{"n7", "n7:1", "n7.cluster.example", "N7.Cluster.Example.:0"} {
		mustResolve(t, full, name)
	}
	if len(z.asked) != 0 {
		t.Errorf("asked for %q", z.asked)
	}
}

func TestHostsWithOddNames(t *testing.T) {
	for _, hostname := range []string{"123456789012", "0x7f", "0xide", "localhost", "10.9.9.9", "02:00:0a:00:00:01"} {
		d := nic.NewDirectoryFor(nic.Arrange(hostname,
			nic.Candidate{Interface: "eth0", Up: true, Addrs: []string{"10.0.0.7"}}), hostname, nil)
		id, err := d.Resolve(t.Context(), hostname)
		if want := idOf("10.0.0.7"); hostname != "localhost" && (err != nil || id != want) {
			t.Errorf("%q resolves to %s, %v", hostname, id, err)
		}
	}
	d := nic.NewDirectoryFor(nil, "123456789012", nil)
	mustResolve(t, d, "123456789012:0")
}

func TestCancelledLookup(t *testing.T) {
	d, _ := testDirectory()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Resolve(ctx, "n8"); !errors.Is(err, context.Canceled) || !errors.Is(err, nic.ErrHostNotFound) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

func TestLastAnswerOutlivesTheResolver(t *testing.T) {
	d, z := testDirectory()
	before := mustResolve(t, d, "n8:1")
	z.forget("n8")
	if after := mustResolve(t, d, "N8:1"); after != before {
		t.Errorf("n8:1 was %s and is %s", before, after)
	}
	if _, err := d.Resolve(t.Context(), "n8:0"); !errors.Is(err, errNoSuchHost) {
		t.Errorf("a board never resolved: %v", err)
	}
}

func TestZoneIsKept(t *testing.T) {
	d, _ := testDirectory()
	id := mustResolve(t, d, "fe80::5%eth0")
	if got := d.Addrs(id); len(got) != 1 || got[0].String() != "fe80::5%eth0" {
		t.Errorf("addresses %v", got)
	}
	if name, _ := d.Name(id); name != "[fe80::5%eth0]:0" {
		t.Errorf("name %q", name)
	}
	zone := strings.Repeat("z", nic.MaxNameLen-len("fe80::6%"))
	id = mustResolve(t, d, "fe80::6%"+zone)
	if name, err := d.Name(id); err != nil || len(name) > nic.MaxNameLen {
		t.Errorf("name %q, %v", name, err)
	}
}

func FuzzResolve(f *testing.F) {
	for _, seed := range []string{
		"n7:1", "n8:2", "[fd00::8]:1", "fd00::8", "10.0.0.7:2", "0x02007f000001", "02:00:7f:00:00:01",
		"n7:4294967296", "[fe80::1%eth0]:0", "localhost:1", "a.b.c:007", "::ffff:10.0.0.7", "[::1]:1",
	} {
		f.Add(seed)
	}
	d, _ := testDirectory()
	f.Fuzz(func(t *testing.T, name string) {
		checkTarget(t, name)
		id, err := d.Resolve(context.Background(), name)
		if err != nil {
			if id != 0 || !errors.Is(err, nic.ErrHostNotFound) {
				t.Errorf("%q: %s, %v", name, id, err)
			}
			return
		}
		if id == 0 || len(name) > nic.MaxNameLen {
			t.Errorf("%q of %d bytes resolves to %s", name, len(name), id)
		}
		called, err := d.Name(id)
		if err != nil {
			return
		}
		if len(called) > nic.MaxNameLen || !isPrintable(called) && isPrintable(name) {
			t.Errorf("%q is called %q", name, called)
		}
		if again, err := d.Resolve(context.Background(), called); err != nil || again != id {
			t.Errorf("%q is %s, called %q, which is %s, %v", name, id, called, again, err)
		}
	})
}

func checkTarget(t *testing.T, name string) {
	t.Helper()
	target, err := nic.ParseTarget(name)
	if err != nil {
		if target != (nic.Target{}) && target.ID != 0 {
			t.Errorf("%q: %+v beside %v", name, target, err)
		}
		return
	}
	meanings := 0
	for _, means := range []bool{target.ID != 0, target.Addr.IsValid(), target.Host != ""} {
		if means {
			meanings++
		}
	}
	if meanings != 1 || target.HasBoard && target.ID != 0 || !target.HasBoard && target.Board != 0 {
		t.Errorf("%q means %+v", name, target)
	}
}
