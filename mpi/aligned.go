package mpi

import "gomx/mpi/internal/elem"

// line is what buffers of collectives are aligned to.
const line = 64

// aligned returns n bytes that begin with a cache line.
func aligned(n int) []byte {
	b := make([]byte, n+line)
	return b[elem.ToLine(b, line):][:n]
}
