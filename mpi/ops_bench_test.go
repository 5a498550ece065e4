package mpi_test

import (
	"testing"

	"gomx/mpi"
)

// BenchmarkSum adds what fits into the caches, and what doesn't.
func BenchmarkSum(b *testing.B) {
	for name, count := range map[string]int{"8KiB": 1 << 10, "512KiB": 1 << 16, "8MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) { benchmarkOp(b, mpi.Sum[float64], count) })
	}
	b.Run("int32/512KiB", func(b *testing.B) { benchmarkOp(b, mpi.Sum[int32], 1<<17) })
	b.Run("max/512KiB", func(b *testing.B) { benchmarkOp(b, mpi.Max[float64], 1<<16) })
	b.Run("copy/512KiB", func(b *testing.B) {
		benchmarkOp(b, func(acc, in []float64) { copy(acc, in) }, 1<<16)
	})
}

func benchmarkOp[T any](b *testing.B, op mpi.Op[T], count int) {
	acc, in := make([]T, count), make([]T, count)
	b.SetBytes(int64(count * 8))
	for b.Loop() {
		op(acc, in)
	}
}
