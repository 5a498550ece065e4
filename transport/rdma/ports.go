package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Layer is the kind of network under a port.
type Layer uint8

// The kinds of network.
const (
	UnknownLayer Layer = iota
	InfiniBand
	Ethernet // RoCE
)

// String returns "InfiniBand", "Ethernet" or "unknown".
func (l Layer) String() string {
	switch l {
	case InfiniBand:
		return "InfiniBand"
	case Ethernet:
		return "Ethernet"
	}
	return "unknown"
}

// Port is a port of an RDMA device, as it was when it was looked at.
type Port struct {
	Device string // "mlx5_0"
	Number int    // from 1
	Layer  Layer
	State  string // "ACTIVE", "DOWN" and so on
	Rate   string // "100 Gb/sec (4X EDR)"; empty if unknown
	LID    uint16 // 0 on Ethernet, and without a subnet manager

	// Interface is the network interface of the same device and port; empty if there
	// is none. It says which board the port belongs to. GIDs of VLANs may have others.
	Interface string
	GIDs      []GID // those in use, by index
}

// Active reports whether the port can carry anything.
func (p *Port) Active() bool { return p.State == "ACTIVE" }

// String returns "mlx5_0/1".
func (p *Port) String() string { return p.Device + "/" + strconv.Itoa(p.Number) }

// sysfs is the directory with one entry for each device.
type sysfs string

const systemSysfs sysfs = "/sys/class/infiniband"

// Ports returns all ports of all RDMA devices, by name and number. A machine without
// any has none, and no error. It reads some thousand small files where tables of
// GIDs are large. It may be called concurrently.
func Ports() ([]Port, error) {
	return systemSysfs.ports()
}

func (s sysfs) ports() ([]Port, error) {
	ports, err := s.names()
	for i := range ports {
		s.look(&ports[i])
	}
	return ports, err
}

// names returns the ports with nothing but their names.
func (s sysfs) names() ([]Port, error) {
	devices, err := os.ReadDir(string(s))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("rdma: looking for devices: %w", err)
	}
	var ports []Port
	for _, d := range devices {
		numbers, _ := os.ReadDir(s.path(d.Name(), "ports"))
		for _, n := range numbers {
			if number, err := strconv.Atoi(n.Name()); err == nil {
				ports = append(ports, Port{Device: d.Name(), Number: number})
			}
		}
	}
	slices.SortFunc(ports, func(a, b Port) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Number, b.Number))
	})
	return ports, nil
}

// look finds out all about the port of that name.
func (s sysfs) look(p *Port) {
	s.lookQuickly(p)
	s.addGIDs(p, gids(s.folder(p), p.Layer))
}

// lookQuickly leaves the GIDs out, and the interface, which they may name.
func (s sysfs) lookQuickly(p *Port) {
	at := s.folder(p)
	_, p.State, _ = strings.Cut(text(at, "state"), ": ") // "4: ACTIVE"
	lid, _ := strconv.ParseUint(text(at, "lid"), 0, 16)
	p.LID = uint16(lid)
	p.Layer = parseLayer(text(at, "link_layer"))
	p.Rate = text(at, "rate")
}

func (s sysfs) addGIDs(p *Port, list []GID) {
	p.GIDs = list
	p.Interface = s.netdev(p)
}

func (s sysfs) folder(p *Port) string { return s.path(p.Device, "ports", strconv.Itoa(p.Number)) }

func parseLayer(s string) Layer {
	switch s {
	case "InfiniBand":
		return InfiniBand
	case "Ethernet":
		return Ethernet
	}
	return UnknownLayer
}

// netdev finds the interface beside a port: the one its first GID belongs to, or on
// InfiniBand the one of the same device that counts its ports alike, from 0.
func (s sysfs) netdev(p *Port) string {
	for _, g := range p.GIDs {
		if g.Interface != "" {
			return g.Interface
		}
	}
	at := s.path(p.Device, "device", "net")
	interfaces, _ := os.ReadDir(at)
	for _, i := range interfaces {
		n, err := strconv.Atoi(text(at, i.Name(), "dev_port"))
		if err == nil && n+1 == p.Number {
			return i.Name()
		}
	}
	return ""
}

func (s sysfs) path(parts ...string) string {
	return filepath.Join(append([]string{string(s)}, parts...)...)
}

// text returns what a file says, or "" if it can't be read.
func text(path ...string) string {
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
