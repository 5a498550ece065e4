// Package block cuts a number of things into parts for ranks.
package block

// Of returns which of n things belong to a rank: those from begin up to, but not
// including, end. The parts are in the order of ranks and differ by one at most.
func Of(n, rank, ranks int) (begin, end int) {
	return begins(n, rank, ranks), begins(n, rank+1, ranks)
}

func begins(n, rank, ranks int) int { return int(int64(n) * int64(rank) / int64(ranks)) }

// All returns for all ranks how many things each has, and where its part begins:
// the counts and displacements that collectives with v take.
func All(n, ranks int) (counts, displs []int) {
	counts, displs = make([]int, ranks), make([]int, ranks)
	for rank := range ranks {
		begin, end := Of(n, rank, ranks)
		counts[rank], displs[rank] = end-begin, begin
	}
	return counts, displs
}
