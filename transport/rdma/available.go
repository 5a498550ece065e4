//go:build linux && cgo

package rdma

import (
	"fmt"
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
		systemSysfs.look(&p)
		why := unusable(&p, provided)
		if why == "" {
			return nil
		}
		not = append(not, fmt.Sprintf("%v: %s", &p, why))
	}
	return fmt.Errorf("rdma: %w: %s", transport.ErrUnsupported, strings.Join(not, "; "))
}

// unusable says why a port is, or "" if it isn't.
func unusable(p *Port, provided []string) string {
	if !slices.Contains(provided, p.Device) {
		return "libibverbs has no provider for it; package ibverbs-providers has the usual ones"
	}
	if _, _, err := p.Choose(nil); err != nil {
		return strings.TrimPrefix(err.Error(), fmt.Sprintf("rdma: %v: ", p))
	}
	d, err := verbs.Open(p.Device)
	if err != nil {
		return err.Error()
	}
	if err := d.Close(); err != nil {
		return err.Error()
	}
	return ""
}
