package nic

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sysfs is the directory with one entry for each interface, /sys/class/net.
type sysfs string

const systemSysfs sysfs = "/sys/class/net"

// details are what sysfs tells about an interface.
type details struct {
	virtual  bool
	numaNode int
	speed    string
	driver   string
}

// details falls back to the interface's name where sysfs is missing or belongs
// to another network namespace, as it does in some containers.
func (s sysfs) details(name string, index int) details {
	if s.number(name, "ifindex") != index {
		return details{virtual: isVirtualName(name), numaNode: -1}
	}
	return details{
		virtual:  !s.reachesHardware(name, 0),
		numaNode: s.numaNode(name),
		speed:    speedText(s.number(name, "speed")),
		driver:   s.driver(name),
	}
}

// reachesHardware is true for a network card, and for a bond, VLAN or bridge with one
// somewhere below.
func (s sysfs) reachesHardware(name string, depth int) bool {
	const deepest = 8
	if depth > deepest {
		return false
	}
	if _, err := os.Stat(s.path(name, "device")); err == nil {
		return true
	}
	entries, _ := os.ReadDir(s.path(name))
	for _, entry := range entries {
		if lower, ok := strings.CutPrefix(entry.Name(), "lower_"); ok && s.reachesHardware(lower, depth+1) {
			return true
		}
	}
	return false
}

// numaNode asks the network card, then the device it sits on: the memory node of a
// virtio network card is known only to its PCI function.
func (s sysfs) numaNode(name string) int {
	device, err := filepath.EvalSymlinks(s.path(name, "device"))
	if err != nil {
		return -1
	}
	for _, dir := range []string{device, filepath.Dir(device)} {
		if node := fileNumber(filepath.Join(dir, "numa_node")); node >= 0 {
			return node
		}
	}
	return -1
}

func (s sysfs) driver(name string) string {
	if target, err := os.Readlink(s.path(name, "device", "driver")); err == nil {
		return filepath.Base(target)
	}
	uevent, _ := os.ReadFile(s.path(name, "uevent"))
	for line := range strings.Lines(string(uevent)) {
		if kind, ok := strings.CutPrefix(line, "DEVTYPE="); ok {
			return strings.TrimSpace(kind)
		}
	}
	return ""
}

func (s sysfs) path(parts ...string) string {
	return filepath.Join(append([]string{string(s)}, parts...)...)
}

func (s sysfs) number(name, attribute string) int {
	return fileNumber(s.path(name, attribute))
}

// fileNumber returns -1 for what can't be read: that is also what the kernel
// writes for "unknown".
func fileNumber(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	value, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1
	}
	return value
}

func speedText(megabits int) string {
	switch {
	case megabits <= 0:
		return ""
	case megabits < 1000:
		return strconv.Itoa(megabits) + " Mb/s"
	default:
		return strconv.FormatFloat(float64(megabits)/1000, 'f', -1, 64) + " Gb/s"
	}
}

var virtualPrefixes = []string{
	"br-", "cali", "cilium", "cni", "docker", "dummy", "flannel", "gre", "ifb", "lxc", "lxd",
	"nerdctl", "podman", "sit", "tap", "tun", "utun", "veth", "virbr", "vmnet", "vnet", "vxlan", "wg",
}

func isVirtualName(name string) bool {
	return slices.ContainsFunc(virtualPrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}
