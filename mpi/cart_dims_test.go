package mpi

import (
	"slices"
	"testing"
	"time"
)

// searched is balanced by trying one factor after the other, which takes long for many.
func searched(n, k int) []int {
	if k == 0 {
		return nil
	}
	for d := 1; k > 1; d++ {
		if n%d != 0 {
			continue
		}
		if rest := searched(n/d, k-1); rest[0] <= d {
			return append([]int{d}, rest...)
		}
	}
	return []int{n}
}

// TestBalancedIsTheSearched: all numbers of ranks up to some thousands.
func TestBalancedIsTheSearched(t *testing.T) {
	for _, c := range []struct{ ranks, dims int }{{5000, 4}, {1500, 6}, {200, 8}} {
		for n := 1; n <= c.ranks; n++ {
			for k := range c.dims + 1 {
				if got, want := balanced(n, k), searched(n, k); !slices.Equal(got, want) {
					t.Fatalf("%d in %d: %v, want %v", n, k, got, want)
				}
			}
		}
	}
}

// TestDimsOfMany: however many dimensions there are, they are found soon. There is no context that would end it.
func TestDimsOfMany(t *testing.T) {
	const most = 720720 // of all numbers of ranks the one with the most divisors
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, c := range []struct {
			n, dims int
			first   []int
		}{
			{most, 6, []int{13, 11, 10, 9, 8, 7}}, {most, 12, nil}, {most, 30, []int{13, 11, 7, 5, 3, 3, 2, 2, 2, 2, 1, 1}},
			{maxRanks, 1000, []int{2, 2, 2}}, {maxRanks - 1, 100_000, nil}, {1, 1000, []int{1, 1}},
		} {
			dims := make([]int, c.dims)
			if err := Dims(c.n, dims); err != nil {
				t.Errorf("%d in %d: %v", c.n, c.dims, err)
			}
			product := 1
			for _, d := range dims {
				product *= d
			}
			if product != c.n || !slices.IsSortedFunc(dims, func(a, b int) int { return b - a }) || !slices.Equal(dims[:len(c.first)], c.first) {
				t.Errorf("%d in %d: %v", c.n, c.dims, dims[:min(30, len(dims))])
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}
