package mpi

import (
	"encoding/binary"

	"gomx/mpi/internal/elem"
)

// LogicalAnd is true, or 1, if both are true, or not zero (MPI_LAND).
func LogicalAnd[T Truth](acc, in []T) {
	var no T
	yes := truth[T]()
	in = in[:len(acc)]
	for i := range acc {
		if acc[i] != no && in[i] != no {
			acc[i] = yes
		} else {
			acc[i] = no
		}
	}
}

// LogicalOr is true, or 1, if one is true, or not zero (MPI_LOR).
func LogicalOr[T Truth](acc, in []T) {
	var no T
	yes := truth[T]()
	in = in[:len(acc)]
	for i := range acc {
		if acc[i] != no || in[i] != no {
			acc[i] = yes
		}
	}
}

// LogicalXor is true, or 1, if one is true, or not zero, and the other is not (MPI_LXOR).
func LogicalXor[T Truth](acc, in []T) {
	var no T
	yes := truth[T]()
	in = in[:len(acc)]
	for i := range acc {
		if (acc[i] != no) != (in[i] != no) {
			acc[i] = yes
		} else {
			acc[i] = no
		}
	}
}

// truth returns 1 or true, which lie alike in memory.
func truth[T Truth]() T {
	var one [1]T
	b, _ := elem.Bytes(one[:])
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		b[0] = 1
	} else {
		b[len(b)-1] = 1
	}
	return one[0]
}
