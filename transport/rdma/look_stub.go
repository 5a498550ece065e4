//go:build !(linux && cgo)

package rdma

// inspector returns what says why a port can't be used: always because of this build.
func inspector() func(p *Port) string {
	return func(*Port) string { return notBuilt }
}

// MemoryLimit knows nothing in this build.
func MemoryLimit() (bytes uint64, ok bool) { return 0, false }
