//go:build linux && cgo

package rdma

import "gomx/transport/rdma/internal/verbs"

// inspector returns what says why a port can't be used, or "".
func inspector() func(p *Port) string {
	err := verbs.Load()
	var provided []string
	if err == nil {
		provided, err = verbs.Names()
	}
	if err != nil {
		return func(*Port) string { return err.Error() }
	}
	return func(p *Port) string { return unusable(p, provided) }
}

// MemoryLimit returns how many bytes this process may lock for devices
// (RLIMIT_MEMLOCK), and false if it may lock any number, or if that is not known.
func MemoryLimit() (bytes uint64, ok bool) { return verbs.MemoryLimit() }
