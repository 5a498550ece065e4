package mpi_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// manySizes are numbers of ranks that collectives are tested with.
var manySizes = []int{1, 2, 3, 4, 7, 8}

// overSizes runs worlds of several sizes over each transport that works here.
func overSizes(t *testing.T, f func(c *mpi.Comm) error) {
	t.Helper()
	for _, n := range manySizes {
		over(t, n, f)
	}
}

// moebius is a 2 by 2 matrix: multiplying them is associative, and not commutative.
type moebius [4]uint32

func multiply(acc, in []moebius) {
	for i, b := range in {
		a := acc[i]
		acc[i] = moebius{a[0]*b[0] + a[1]*b[2], a[0]*b[1] + a[1]*b[3], a[2]*b[0] + a[3]*b[2], a[2]*b[1] + a[3]*b[3]}
	}
}

func matrices(rank, count int) []moebius {
	m := make([]moebius, count)
	for i := range m {
		m[i] = moebius{uint32(rank + 1), uint32(i), uint32(rank * i), 3}
	}
	return m
}

// product multiplies the matrices of ranks from..to-1.
func product(from, to, count int) []moebius {
	m := matrices(from, count)
	for rank := from + 1; rank < to; rank++ {
		multiply(m, matrices(rank, count))
	}
	return m
}

func TestReductions(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	overSizes(t, func(c *mpi.Comm) error {
		for _, count := range []int{0, 1, 5, 3000, 9_000} {
			all := product(0, c.Size(), count)
			send, recv := matrices(c.Rank(), count), make([]moebius, count)
			if err := mpi.Allreduce(c, send, recv, multiply); err != nil {
				return err
			}
			if err := same(recv, all); err != nil {
				return fmt.Errorf("allreduce of %d: %w", count, err)
			}
			root := c.Size() - 1
			if err := mpi.Reduce(c, send, send, multiply, root); err != nil { // in place at the root
				return err
			}
			if c.Rank() == root {
				if err := same(send, all); err != nil {
					return fmt.Errorf("reduce of %d: %w", count, err)
				}
			}
			send = matrices(c.Rank(), count)
			if err := mpi.Scan(c, send, recv, multiply); err != nil {
				return err
			}
			if err := same(recv, product(0, c.Rank()+1, count)); err != nil {
				return fmt.Errorf("scan of %d: %w", count, err)
			}
			if err := mpi.Exscan(c, send, send, multiply); err != nil {
				return err
			}
			if c.Rank() > 0 {
				if err := same(send, product(0, c.Rank(), count)); err != nil {
					return fmt.Errorf("exscan of %d: %w", count, err)
				}
			}
		}
		return nil
	})
}

func TestReduceScatter(t *testing.T) {
	overSizes(t, func(c *mpi.Comm) error {
		var counts []int
		total, before := 0, 0
		for rank := range c.Size() {
			if rank == c.Rank() {
				before = total
			}
			counts = append(counts, rank*3%5)
			total += rank * 3 % 5
		}
		own := counts[c.Rank()]
		recv := make([]moebius, own)
		if err := mpi.ReduceScatter(c, matrices(c.Rank(), total), recv, counts, multiply); err != nil {
			return err
		}
		if err := same(recv, product(0, c.Size(), total)[before:before+own]); err != nil {
			return err
		}
		block := make([]moebius, 100)
		if err := mpi.ReduceScatterBlock(c, matrices(c.Rank(), 100*c.Size()), block, multiply); err != nil {
			return err
		}
		return same(block, product(0, c.Size(), 100*c.Size())[100*c.Rank():][:100])
	})
}

// TestSameBits looks that a sum that depends on where the brackets stand is the same every
// time, and at all ranks.
func TestSameBits(t *testing.T) {
	const count = 2000
	for _, n := range []int{3, 8} {
		var first []float64
		for range 3 {
			results := make([][]float64, n)
			world(t, n, func(c *mpi.Comm) error {
				v := make([]float64, count)
				for i := range v {
					v[i] = math.Sin(float64(c.Rank()*count+i)) * math.Pow(10, float64((c.Rank()*7+i)%17))
				}
				results[c.Rank()] = v
				return mpi.Allreduce(c, v, v, mpi.Sum)
			})
			if first == nil {
				first = results[0]
			}
			for rank, r := range results {
				if !slices.Equal(r, first) {
					t.Fatalf("rank %d of %d has other bits", rank, n)
				}
			}
		}
	}
}

func TestOperations(t *testing.T) {
	type pair struct {
		name      string
		got, want any
	}
	apply := func(name string, got, want any) pair { return pair{name, got, want} }
	for _, p := range []pair{
		apply("sum", combine(mpi.Sum, []int8{1, 2, 3, 4, 5, 6}, []int8{10, 20, 30, 40, 50, 60}), []int8{11, 22, 33, 44, 55, 66}),
		apply("sum of complex", combine(mpi.Sum, []complex64{1 + 2i}, []complex64{3i}), []complex64{1 + 5i}),
		apply("prod", combine(mpi.Prod, []float32{2, 3}, []float32{4, 0.5}), []float32{8, 1.5}),
		apply("min", combine(mpi.Min, []int{4, -2}, []int{3, 9}), []int{3, -2}),
		apply("max", combine(mpi.Max, []uint8{4, 200}, []uint8{3, 201}), []uint8{4, 201}),
		apply("bit and", combine(mpi.BitAnd, []uint16{6}, []uint16{3}), []uint16{2}),
		apply("bit or", combine(mpi.BitOr, []uint16{6}, []uint16{3}), []uint16{7}),
		apply("bit xor", combine(mpi.BitXor, []uint16{6}, []uint16{3}), []uint16{5}),
		apply("logical and", combine(mpi.LogicalAnd, []int64{0, 7, 0, 2}, []int64{0, 0, 9, -1}), []int64{0, 0, 0, 1}),
		apply("logical or", combine(mpi.LogicalOr, []int64{0, 7, 0, 2}, []int64{0, 0, 9, -1}), []int64{0, 1, 1, 1}),
		apply("logical xor", combine(mpi.LogicalXor, []int64{0, 7, 0, 2}, []int64{0, 0, 9, -1}), []int64{0, 1, 1, 0}),
		apply("or of bool", combine(mpi.LogicalOr, []bool{false, true, false}, []bool{false, false, true}), []bool{false, true, true}),
		apply("min loc", combine(mpi.MinLoc, []mpi.Loc[float64]{{2, 5}, {1, 3}, {1, 1}}, []mpi.Loc[float64]{{1, 7}, {1, 2}, {4, 0}}),
			[]mpi.Loc[float64]{{1, 7}, {1, 2}, {1, 1}}),
		apply("max loc", combine(mpi.MaxLoc, []mpi.Loc[int32]{{2, 5}, {1, 3}, {1, 1}}, []mpi.Loc[int32]{{1, 7}, {1, 2}, {4, 0}}),
			[]mpi.Loc[int32]{{2, 5}, {1, 2}, {4, 0}}),
	} {
		if fmt.Sprint(p.got) != fmt.Sprint(p.want) {
			t.Errorf("%s: %v, not %v", p.name, p.got, p.want)
		}
	}
	if got := combine(mpi.Max, []float64{math.NaN(), 1}, []float64{1, math.NaN()}); !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
		t.Errorf("the larger of NaN and 1: %v", got)
	}
}

// TestLocOfNaN: whatever the order in which values are combined, the first NaN is what comes out.
func TestLocOfNaN(t *testing.T) {
	nan := math.NaN()
	for name, op := range map[string]mpi.Op[mpi.Loc[float64]]{"MinLoc": mpi.MinLoc[float64], "MaxLoc": mpi.MaxLoc[float64]} {
		for _, values := range [][]float64{{0, 1, nan, 3}, {nan, 1, 2, 3}, {0, nan, 2, nan}, {3, 2, 1, nan}} {
			first := slices.IndexFunc(values, math.IsNaN)
			for rotated := range values {
				acc := []mpi.Loc[float64]{{values[rotated], rotated}}
				for i := 1; i < len(values); i++ {
					at := (rotated + i) % len(values)
					op(acc, []mpi.Loc[float64]{{values[at], at}})
				}
				if !math.IsNaN(acc[0].Value) || acc[0].Index != first {
					t.Errorf("%s of %v from %d on: %v, want NaN at %d", name, values, rotated, acc[0], first)
				}
			}
		}
	}
}

func combine[T any](op mpi.Op[T], acc, in []T) []T {
	op(acc, in)
	return acc
}

// TestOddSum looks at lengths that are no multiple of what a loop may take at a time.
func TestOddSum(t *testing.T) {
	for n := range 20 {
		acc, in, want := make([]int, n), make([]int, n), make([]int, n)
		for i := range n {
			acc[i], in[i], want[i] = i, i*100, i*101
		}
		if mpi.Sum(acc, in); !slices.Equal(acc, want) {
			t.Errorf("%d elements: %v", n, acc)
		}
	}
}
