package mpi

import "math/bits"

// balanced returns k factors of n, the largest first, each of which is as small as can be with those before it.
func balanced(n, k int) []int {
	f := factors{divisors: divisorsOf(n), largest: map[split]int{}}
	sizes := make([]int, k)
	for i := range sizes {
		sizes[i] = f.least(n, k-i)
		n /= sizes[i]
	}
	return sizes
}

// factors finds ways to write divisors of a number as products. Each is found once: there are few divisors, and few ways to get at each.
type factors struct {
	divisors []int // ascending
	largest  map[split]int
}

// split is a number as a product of so many factors.
type split struct{ n, factors int }

// least returns how small the largest of k factors of a divisor can be.
func (f *factors) least(n, k int) int {
	k = min(k, bits.Len(uint(n))) // no number has more prime factors, and further ones are 1
	if k == 1 {
		return n
	}
	s := split{n, k}
	least, known := f.largest[s]
	if !known {
		for _, d := range f.divisors {
			if n%d == 0 && f.least(n/d, k-1) <= d {
				least = d
				break
			}
		}
		f.largest[s] = least
	}
	return least
}

// divisorsOf returns the divisors of a number, ascending.
func divisorsOf(n int) (small []int) {
	var large []int
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			if small = append(small, d); d != n/d {
				large = append(large, n/d)
			}
		}
	}
	for i := range large {
		small = append(small, large[len(large)-1-i])
	}
	return small
}
