package accum_test

import (
	"math"
	"slices"
	"testing"

	"gomx/mpi/internal/accum"
	"gomx/mpi/internal/elem"
)

// apply applies an operation to elements, and returns what has become of acc.
func apply[T any](t *testing.T, op accum.Op, acc, in []T) []T {
	t.Helper()
	acc = slices.Clone(acc)
	a, _ := elem.Bytes(acc)
	b, _ := elem.Bytes(in)
	if !accum.Apply(accum.KindOf[T](), op, a, b) {
		t.Fatalf("%v can't be done", op)
	}
	return acc
}

func check[T comparable](t *testing.T, op accum.Op, acc, in, want []T) {
	t.Helper()
	if got := apply(t, op, acc, in); !slices.Equal(got, want) {
		t.Errorf("%v of %v and %v is %v, want %v", op, acc, in, got, want)
	}
}

func numbers[T int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | float32 | float64](t *testing.T) {
	t.Helper()
	a, b := []T{0, 1, 6, 7}, []T{3, 0, 5, 7}
	check(t, accum.None, a, b, a)
	check(t, accum.Replace, a, b, b)
	check(t, accum.Sum, a, b, []T{3, 1, 11, 14})
	check(t, accum.Prod, a, b, []T{0, 0, 30, 49})
	check(t, accum.Min, a, b, []T{0, 0, 5, 7})
	check(t, accum.Max, a, b, []T{3, 1, 6, 7})
}

func integers[T int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint](t *testing.T) {
	t.Helper()
	numbers[T](t)
	a, b := []T{0, 1, 6, 7}, []T{3, 0, 5, 7}
	check(t, accum.BitAnd, a, b, []T{0, 0, 4, 7})
	check(t, accum.BitOr, a, b, []T{3, 1, 7, 7})
	check(t, accum.BitXor, a, b, []T{3, 1, 3, 0})
	check(t, accum.LogicalAnd, a, b, []T{0, 0, 1, 1})
	check(t, accum.LogicalOr, a, b, []T{1, 1, 1, 1})
	check(t, accum.LogicalXor, a, b, []T{1, 1, 0, 0})
}

type celsius float64

func TestApply(t *testing.T) {
	integers[int8](t)
	integers[int16](t)
	integers[int32](t)
	integers[int64](t)
	integers[int](t)
	integers[uint8](t)
	integers[uint16](t)
	integers[uint32](t)
	integers[uint64](t)
	integers[uint](t)
	numbers[float32](t)
	numbers[float64](t)
	check(t, accum.Sum, []celsius{1}, []celsius{2}, []celsius{3})
	check(t, accum.Sum, []complex64{1i}, []complex64{2}, []complex64{2 + 1i})
	check(t, accum.Prod, []complex128{1i}, []complex128{1i}, []complex128{-1})
	if got := apply(t, accum.Max, []float64{1}, []float64{math.NaN()}); !math.IsNaN(got[0]) {
		t.Error("the greater of 1 and NaN is", got[0])
	}
}

// TestWhatCannotBeDone wants memory unchanged by what does not exist.
func TestWhatCannotBeDone(t *testing.T) {
	type pair [2]int32
	if k := accum.KindOf[pair](); k != 0 || accum.Can(k, accum.Sum) || !accum.Can(k, accum.Replace) {
		t.Error("pairs are added")
	}
	if accum.KindOf[bool]() != 0 {
		t.Error("booleans are numbers")
	}
	memory, _ := elem.Bytes(make([]uint64, 3))
	aligned := memory[:16]
	for _, c := range []struct {
		kind accum.Kind
		op   accum.Op
		acc  []byte
		in   []byte
	}{
		{accum.Float64, accum.BitAnd, aligned, aligned},
		{accum.Float32, accum.LogicalOr, aligned, aligned},
		{accum.Complex64, accum.Min, aligned, aligned},
		{accum.Int64, 200, aligned, aligned},
		{200, accum.Sum, aligned, aligned},
		{accum.Int64, accum.Sum, aligned[:8], aligned[:7]},
		{accum.Int64, accum.Sum, aligned[:7], aligned[:7]},
		{accum.Int64, accum.Sum, memory[1:9], memory[1:9]},
	} {
		if accum.Apply(c.kind, c.op, c.acc, c.in) {
			t.Errorf("%v on kind %d, %d bytes and %d", c.op, c.kind, len(c.acc), len(c.in))
		}
	}
}
