package coll_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// lengths of vectors: none, fewer than ranks, more, and odd ones.
var lengths = []int{0, 1, 16, 37, 300}

// vectors runs f with all lengths, with the result where the contribution lies and elsewhere.
func vectors(m *member, f func(in, out []span, what string) error) error {
	for _, count := range lengths {
		for _, inPlace := range []bool{false, true} {
			in := spans(m.rank, count)
			out := slices.Repeat([]span{{7, 7}}, count)
			if inPlace {
				out = in
			}
			what := fmt.Sprintf("rank %d, %d elements, in place %v", m.rank, count, inPlace)
			if err := f(in, out, what); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if !inPlace && !slices.Equal(in, spans(m.rank, count)) {
				return fmt.Errorf("%s: the contribution was written", what)
			}
		}
	}
	return nil
}

func want(got []span, what string, w span) error {
	for i, g := range got {
		if g != w {
			return fmt.Errorf("%s: element %d is of %v, not %v", what, i, g, w)
		}
	}
	return nil
}

func TestReduce(t *testing.T) {
	each(t, coll.KindReduce, func(t *testing.T, size int, a coll.Algorithm) {
		for _, root := range roots(size) {
			run(t, size, func(m *member) error {
				return vectors(m, func(in, out []span, what string) error {
					if m.rank != root {
						out = nil
					}
					if err := m.do(func(n coll.Net) error { return coll.Reduce(n, in, out, root, join, a) }); err != nil || m.rank != root {
						return err
					}
					return want(out, what, span{0, int32(size - 1)})
				})
			})
		}
	})
}

func TestAllreduce(t *testing.T) {
	each(t, coll.KindAllreduce, func(t *testing.T, size int, a coll.Algorithm) {
		run(t, size, func(m *member) error {
			return vectors(m, func(in, out []span, what string) error {
				if err := m.do(func(n coll.Net) error { return coll.Allreduce(n, in, out, join, a) }); err != nil {
					return err
				}
				return want(out, what, span{0, int32(size - 1)})
			})
		})
	})
}

func sum[T int64 | float64](acc, in []T) {
	for i := range acc {
		acc[i] += in[i]
	}
}

// TestSameBits looks that sums that depend on where the brackets stand are the same at
// all ranks, and every time.
func TestSameBits(t *testing.T) {
	each(t, coll.KindAllreduce, func(t *testing.T, size int, a coll.Algorithm) {
		const count = 100
		var first []float64
		for range 3 {
			results := make([][]float64, size)
			run(t, size, func(m *member) error {
				in, out := make([]float64, count), make([]float64, count)
				for i := range in {
					in[i] = math.Sin(float64(m.rank*count+i)) * math.Pow(10, float64((m.rank*7+i)%17))
				}
				results[m.rank] = out
				return m.do(func(n coll.Net) error { return coll.Allreduce(n, in, out, sum, a) })
			})
			if first == nil {
				first = results[0]
			}
			for rank, r := range results {
				if !slices.Equal(r, first) {
					t.Fatalf("rank %d has other bits", rank)
				}
			}
		}
	})
}

func TestScan(t *testing.T) {
	each(t, coll.KindScan, func(t *testing.T, size int, a coll.Algorithm) {
		run(t, size, func(m *member) error {
			return vectors(m, func(in, out []span, what string) error {
				if err := m.do(func(n coll.Net) error { return coll.Scan(n, in, out, join, a) }); err != nil {
					return err
				}
				return want(out, what, span{0, int32(m.rank)})
			})
		})
	})
}

func TestExscan(t *testing.T) {
	each(t, coll.KindExscan, func(t *testing.T, size int, a coll.Algorithm) {
		run(t, size, func(m *member) error {
			return vectors(m, func(in, out []span, what string) error {
				before := slices.Clone(out)
				if err := m.do(func(n coll.Net) error { return coll.Exscan(n, in, out, join, a) }); err != nil {
					return err
				}
				if m.rank > 0 {
					return want(out, what, span{0, int32(m.rank - 1)})
				}
				if !slices.Equal(out, before) {
					return fmt.Errorf("%s: the result of rank 0 was written", what)
				}
				return nil
			})
		})
	})
}

func TestReduceScatter(t *testing.T) {
	each(t, coll.KindReduceScatter, func(t *testing.T, size int, a coll.Algorithm) {
		run(t, size, func(m *member) error {
			counts, _, total := counts(size)
			for _, inPlace := range []bool{false, true} {
				in, out := spans(m.rank, total), spans(99, counts[m.rank])
				if inPlace {
					out = in[:counts[m.rank]]
				}
				what := fmt.Sprintf("rank %d, in place %v", m.rank, inPlace)
				if err := m.do(func(n coll.Net) error {
					return coll.ReduceScatter(n, in, out, coll.Listed(counts, nil, elem.Size[span]()), join, a)
				}); err != nil {
					return err
				}
				if err := want(out, what, span{0, int32(size - 1)}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// TestLongHalves exchanges halves that go in segments, and halves that don't.
func TestLongHalves(t *testing.T) {
	for _, size := range []int{2, 3, 4} {
		for _, count := range []int{70_001, 300_001} {
			run(t, size, func(m *member) error {
				in, out := spans(m.rank, count), make([]span, count)
				if err := m.do(func(n coll.Net) error { return coll.Allreduce(n, in, out, join, coll.Rabenseifner) }); err != nil {
					return err
				}
				return want(out, fmt.Sprintf("rank %d of %d", m.rank, size), span{0, int32(size - 1)})
			})
		}
	}
}
