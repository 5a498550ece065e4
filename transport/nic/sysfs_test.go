package nic_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/transport/nic"
)

// fakeSysfs lays out: a PCI card nic0, a virtio card nic1, a bond over nic0, a
// VLAN over the bond, a bridge over a veth, and a bridge that claims itself.
func fakeSysfs(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, path string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(root, target), path); err != nil {
			t.Fatal(err)
		}
	}
	write("pci0/numa_node", "1\n")
	link("drivers/mlx5_core", "pci0/driver")
	write("pci1/numa_node", "0\n")
	write("pci1/virtio2/features", "")
	link("drivers/virtio_net", "pci1/virtio2/driver")
	for i, name := range []string{"nic0", "nic1", "bond0", "bond0.5", "br0", "veth1", "br1"} {
		write("net/"+name+"/ifindex", string(rune('1'+i))+"\n")
	}
	write("net/nic0/speed", "25000\n")
	write("net/nic1/speed", "-1\n")
	link("pci0", "net/nic0/device")
	link("pci1/virtio2", "net/nic1/device")
	write("net/bond0/uevent", "DEVTYPE=bond\nINTERFACE=bond0\nIFINDEX=3\n")
	link("net/nic0", "net/bond0/lower_nic0")
	link("net/bond0", "net/bond0.5/lower_bond0")
	link("net/veth1", "net/br0/lower_veth1")
	link("net/br1", "net/br1/lower_br1")
	return filepath.Join(root, "net")
}

func TestSysfsDetails(t *testing.T) {
	root := fakeSysfs(t)
	for i, test := range []struct {
		name    string
		virtual bool
		node    int
		speed   string
		driver  string
	}{
		{"nic0", false, 1, "25 Gb/s", "mlx5_core"},
		{"nic1", false, 0, "", "virtio_net"},
		{"bond0", false, -1, "", "bond"},
		{"bond0.5", false, -1, "", ""},
		{"br0", true, -1, "", ""},
		{"veth1", true, -1, "", ""},
		{"br1", true, -1, "", ""},
	} {
		virtual, node, speed, driver := nic.Sysfs(root, test.name, i+1)
		if virtual != test.virtual || node != test.node || speed != test.speed || driver != test.driver {
			t.Errorf("%s: virtual %v, node %d, speed %q, driver %q", test.name, virtual, node, speed, driver)
		}
	}
}

// A container may see the sysfs of its host, where the same name is another
// interface.
func TestSysfsOfAnotherNamespace(t *testing.T) {
	root := fakeSysfs(t)
	if virtual, node, speed, driver := nic.Sysfs(root, "nic0", 77); virtual || node != -1 || speed != "" || driver != "" {
		t.Errorf("details of a foreign interface: %v %d %q %q", virtual, node, speed, driver)
	}
	if virtual, _, _, _ := nic.Sysfs(root, "docker0", 5); !virtual {
		t.Error("docker0 passes for hardware")
	}
}

func TestVirtualNames(t *testing.T) {
	for name, want := range map[string]bool{
		"docker0": true, "veth12ab": true, "virbr0": true, "br-1f2e": true, "tun0": true,
		"eth0": false, "enp3s0": false, "ib0": false, "bond0": false, "en0": false, "br0": false,
	} {
		if nic.IsVirtualName(name) != want {
			t.Errorf("%s: virtual is %v", name, !want)
		}
	}
}

func TestSpeedText(t *testing.T) {
	for megabits, want := range map[int]string{-1: "", 0: "", 100: "100 Mb/s", 1000: "1 Gb/s", 2500: "2.5 Gb/s", 400000: "400 Gb/s"} {
		if got := nic.SpeedText(megabits); got != want {
			t.Errorf("%d: %q, want %q", megabits, got, want)
		}
	}
}

func TestVolatileInet6(t *testing.T) {
	const listing = `fd000000000000000000000000000002 02 40 00 80     eth0
20010db8000000000000000000000001 02 40 00 01     eth0
20010db8000000000000000000000002 02 40 00 a0     eth0
20010db8000000000000000000000003 02 40 00 48     eth0
zz010db8000000000000000000000004 02 40 00 01     eth0
20010db80000000000000000000005 02 40 00 01     eth0
20010db8000000000000000000000006 02 40 00 1x     eth0

short line
`
	volatile := nic.ParseInet6(strings.NewReader(listing))
	for text, want := range map[string]bool{
		"fd00::2": false, "2001:db8::1": true, "2001:db8::2": true, "2001:db8::3": true, "2001:db8::6": false,
	} {
		if volatile[netip.MustParseAddr(text)] != want {
			t.Errorf("%s: volatile is %v", text, !want)
		}
	}
	if len(volatile) != 3 {
		t.Errorf("%d volatile addresses: %v", len(volatile), volatile)
	}
}
