//go:build linux && cgo

package rdma

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"gomx/transport"
	"gomx/transport/rdma/internal/verbs"
)

// Available returns nil if some port of this machine can be used, or why none can:
// always transport.ErrUnsupported, with the reason. Where there is no RDMA
// device it does not load libibverbs. It may be called concurrently.
func Available() error {
	ports, err := systemSysfs.names()
	if err != nil {
		return fmt.Errorf("%w: %w", transport.ErrUnsupported, err)
	}
	if len(ports) == 0 {
		return fmt.Errorf("rdma: %w: this machine has no RDMA device", transport.ErrUnsupported)
	}
	if err := verbs.Load(); err != nil {
		return fmt.Errorf("rdma: %w: %w", transport.ErrUnsupported, err)
	}
	provided, err := verbs.Names()
	if err != nil {
		return fmt.Errorf("rdma: %w: %w", transport.ErrUnsupported, err)
	}
	var not []string
	for _, p := range ports {
		systemSysfs.lookQuickly(&p)
		why := unusable(&p, provided)
		if why == "" {
			return nil
		}
		not = append(not, fmt.Sprintf("%v: %s", &p, why))
	}
	return fmt.Errorf("rdma: %w: %s", transport.ErrUnsupported, strings.Join(not, "; "))
}

// unusable says why a port is, or "" if it isn't. Without GIDs, those are looked up.
func unusable(p *Port, provided []string) string {
	if !slices.Contains(provided, p.Device) {
		return "libibverbs has no provider for it; package ibverbs-providers has the usual ones"
	}
	d, err := verbs.Open(p.Device)
	if err != nil {
		return err.Error()
	}
	if p.GIDs == nil {
		addGIDs(p, d)
	}
	if _, _, err := p.Choose(nil); err != nil {
		_ = d.Close()
		return strings.TrimPrefix(err.Error(), fmt.Sprintf("rdma: %v: ", p))
	}
	if err := d.Close(); err != nil {
		return err.Error()
	}
	return ""
}

// addGIDs looks up the GIDs of a port of d.
func addGIDs(p *Port, d *verbs.Device) {
	all, err := d.GIDs()
	if err != nil { // the library is too old
		systemSysfs.addGIDs(p, gids(systemSysfs.folder(p), p.Layer))
		return
	}
	names := map[uint32]string{}
	if interfaces, err := net.Interfaces(); err == nil {
		for _, i := range interfaces {
			names[uint32(i.Index)] = i.Name
		}
	}
	types := map[verbs.GIDType]GIDType{
		verbs.GIDInfiniBand: InfiniBandGID, verbs.GIDRoCEv1: RoCEv1, verbs.GIDRoCEv2: RoCEv2,
	}
	list := []GID{}
	for _, g := range all {
		addr := netip.AddrFrom16(g.GID)
		if int(g.Port) == p.Number && !addr.IsUnspecified() {
			list = append(list, GID{Index: int(g.Index), Addr: addr.Unmap(), Type: types[g.Type], Interface: names[g.Interface]})
		}
	}
	systemSysfs.addGIDs(p, list)
}
