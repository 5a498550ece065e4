package rdma

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/transport"
)

// tree makes a directory like that of the kernel.
func tree(t *testing.T, files map[string]string) sysfs {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return sysfs(root)
}

// rocePort is what the kernel says of a Soft-RoCE port with both versions.
func rocePort(device string) map[string]string {
	files := map[string]string{}
	for name, content := range map[string]string{
		"state": "4: ACTIVE", "link_layer": "Ethernet", "lid": "0x0", "rate": "2.5 Gb/sec (1X SDR)",
		"gids/0": "fe80:0000:0000:0000:0011:22ff:fe33:4455", "gid_attrs/types/0": "IB/RoCE v1", "gid_attrs/ndevs/0": "d0",
		"gids/1": "fe80:0000:0000:0000:0011:22ff:fe33:4455", "gid_attrs/types/1": "RoCE v2", "gid_attrs/ndevs/1": "d0",
		"gids/2": "2001:0db8:0000:0000:0000:0000:0000:0001", "gid_attrs/types/2": "RoCE v2", "gid_attrs/ndevs/2": "d0",
		"gids/3": "0000:0000:0000:0000:0000:ffff:0a00:0001", "gid_attrs/types/3": "IB/RoCE v1", "gid_attrs/ndevs/3": "d0",
		"gids/4": "0000:0000:0000:0000:0000:ffff:0a00:0001", "gid_attrs/types/4": "RoCE v2", "gid_attrs/ndevs/4": "d0",
		"gids/5": "0000:0000:0000:0000:0000:0000:0000:0000",
		// A VLAN of the same device.
		"gids/10": "0000:0000:0000:0000:0000:ffff:0a01:0001", "gid_attrs/types/10": "RoCE v2", "gid_attrs/ndevs/10": "d0.7",
	} {
		files[device+"/ports/1/"+name] = content
	}
	return files
}

func TestRoCEPort(t *testing.T) {
	ports, err := tree(t, rocePort("rxe0")).ports()
	if err != nil || len(ports) != 1 {
		t.Fatal(ports, err)
	}
	p := ports[0]
	if p.String() != "rxe0/1" || p.Layer != Ethernet || !p.Active() || p.LID != 0 ||
		p.Rate != "2.5 Gb/sec (1X SDR)" || p.Interface != "d0" {
		t.Errorf("%+v", p)
	}
	want := []GID{
		{0, RoCEv1, netip.MustParseAddr("fe80::11:22ff:fe33:4455"), "d0"},
		{1, RoCEv2, netip.MustParseAddr("fe80::11:22ff:fe33:4455"), "d0"},
		{2, RoCEv2, netip.MustParseAddr("2001:db8::1"), "d0"},
		{3, RoCEv1, netip.MustParseAddr("10.0.0.1"), "d0"},
		{4, RoCEv2, netip.MustParseAddr("10.0.0.1"), "d0"},
		{10, RoCEv2, netip.MustParseAddr("10.1.0.1"), "d0.7"},
	}
	if len(p.GIDs) != len(want) {
		t.Fatalf("%v, want %v", p.GIDs, want)
	}
	for i, g := range p.GIDs {
		if g != want[i] {
			t.Errorf("%v, want %v", g, want[i])
		}
	}
	if b := p.GIDs[4].Bytes(); b != [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1} {
		t.Errorf("10.0.0.1 travels as %x", b)
	}
	if s := p.GIDs[4].String(); s != "4 (10.0.0.1, RoCE v2, d0)" {
		t.Errorf("printed as %q", s)
	}
}

func TestChoose(t *testing.T) {
	all := rocePort("r")
	without := func(gids ...string) map[string]string {
		files := map[string]string{}
		for name, content := range all {
			files[name] = content
		}
		for _, g := range gids {
			delete(files, "r/ports/1/gids/"+g)
		}
		return files
	}
	with := func(name, content string) map[string]string {
		files := without()
		files["r/ports/1/"+name] = content
		return files
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		board string
		want  int
		why   string
		err   error
	}{
		{"IPv4 before IPv6", all, "", 4, "RoCE v2 with an IPv4 address", nil},
		{"the board's address", all, "10.0.0.1", 4, "RoCE v2 with an address of the board", nil},
		{"the board of the VLAN", all, "10.1.0.1", 10, "RoCE v2 with an address of the board", nil},
		{"the board has IPv6", all, "2001:db8::1", 2, "RoCE v2 with an address of the board", nil},
		{"the board's address with a zone", without("4", "10"), "fe80::11:22ff:fe33:4455%d0", 1, "RoCE v2 with an address of the board", nil},
		{"no IPv4", without("3", "4", "10"), "10.0.0.1", 2, "RoCE v2 with an IPv6 address", nil},
		{"link-local", without("2", "3", "4", "10"), "", 1, "RoCE v2 with an address that is good for this link only", nil},
		{"v2 before the board's address in v1", without("4", "10"), "10.0.0.1", 2, "RoCE v2 with an IPv6 address", nil},
		{"v1", without("1", "2", "4", "10"), "", 3, "RoCE v1, as there is no RoCE v2 with an IPv4 address", nil},
		{"none", without("0", "1", "2", "3", "4", "10"), "", 0, "", ErrNoGID},
		{"unknown layer", with("link_layer", "Pigeon"), "", 0, "", ErrNoGID},
		{"down", with("state", "1: DOWN"), "", 0, "", ErrInactive},
	} {
		t.Run(c.name, func(t *testing.T) {
			ports, err := tree(t, c.files).ports()
			if err != nil || len(ports) != 1 {
				t.Fatal(ports, err)
			}
			var board []netip.Addr
			if c.board != "" {
				board = append(board, netip.MustParseAddr(c.board))
			}
			g, why, err := ports[0].Choose(board)
			if !errors.Is(err, c.err) || g.Index != c.want || why != c.why {
				t.Errorf("GID %v, %q, %v; want %d, %q, %v", g, why, err, c.want, c.why, c.err)
			}
			if err != nil && !strings.Contains(err.Error(), "r/1") {
				t.Errorf("%q does not name the port", err)
			}
		})
	}
}

func TestInfiniBandPorts(t *testing.T) {
	files := map[string]string{
		"mlx5_0/device/net/ib0/dev_port": "0", "mlx5_0/device/net/ib1/dev_port": "1",
		"mlx5_0/ports/2/state": "4: ACTIVE", "mlx5_0/ports/2/link_layer": "InfiniBand", "mlx5_0/ports/2/lid": "0x1b",
		"mlx5_0/ports/2/gids/0": "fe80:0000:0000:0000:0002:c903:00a1:b2c3", "mlx5_0/ports/2/gid_attrs/types/0": "IB/RoCE v1",
		"mlx5_0/ports/2/gids/1": "fe80:0000:0000:0000:0002:c903:00a1:ffff", "mlx5_0/ports/2/gid_attrs/types/1": "IB/RoCE v1",
		"mlx5_0/ports/1/state": "2: INIT", "mlx5_0/ports/1/link_layer": "InfiniBand", "mlx5_0/ports/1/lid": "0xffff",
		"hfi1_0/ports/1/state": "1: DOWN", "hfi1_0/ports/x/state": "4: ACTIVE",
	}
	ports, err := tree(t, files).ports()
	if err != nil || len(ports) != 3 {
		t.Fatal(ports, err)
	}
	for i, want := range []string{"hfi1_0/1", "mlx5_0/1", "mlx5_0/2"} {
		if ports[i].String() != want {
			t.Errorf("port %d is %v, want %s", i, &ports[i], want)
		}
	}
	if p := ports[1]; p.Active() || p.State != "INIT" || p.LID != 0xffff || p.Interface != "ib0" {
		t.Errorf("%+v", p)
	}
	p := ports[2]
	g, why, err := p.Choose(nil)
	if err != nil || p.LID != 0x1b || p.Interface != "ib1" || p.Layer != InfiniBand ||
		g.Index != 0 || g.Type != InfiniBandGID || why != "the first of the port" {
		t.Errorf("%+v: GID %v, %q, %v", p, g, why, err)
	}
}

func TestNoDevices(t *testing.T) {
	for _, s := range []sysfs{sysfs(filepath.Join(t.TempDir(), "missing")), tree(t, nil)} {
		if ports, err := s.ports(); err != nil || len(ports) != 0 {
			t.Error(ports, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := sysfs(file).ports(); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is no directory has devices: %v", err)
	}
}

// TestAvailable: it says why not in the contract's terms, or some port is usable.
func TestAvailable(t *testing.T) {
	err := Available()
	t.Log(err)
	if err != nil {
		if !errors.Is(err, transport.ErrUnsupported) {
			t.Errorf("error %v, want ErrUnsupported", err)
		}
		return
	}
	ports, err := Ports()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ports {
		g, why, err := p.Choose(nil)
		t.Logf("%+v: GID %v, %s, %v", p, g, why, err)
		if err == nil {
			return
		}
	}
	t.Error("available, but no port can be used")
}
