package block

import "testing"

func TestPartsAreTheWhole(t *testing.T) {
	for _, n := range []int{0, 1, 5, 100, 1 << 30} {
		for ranks := 1; ranks < 9; ranks++ {
			counts, displs := All(n, ranks)
			next := 0
			for rank, count := range counts {
				if displs[rank] != next || count < n/ranks || count > n/ranks+1 {
					t.Errorf("%d things at %d ranks: rank %d has %d from %d on", n, ranks, rank, count, displs[rank])
				}
				next += count
			}
			if next != n {
				t.Errorf("%d things at %d ranks: %d are dealt out", n, ranks, next)
			}
		}
	}
}
