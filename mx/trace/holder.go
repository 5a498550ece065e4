package trace

import (
	"slices"
	"time"
)

// Below these a rank holds up nobody. In a job that does nothing but exchange messages, some rank has the largest share of the path, too; and
// where ranks share cores, one may begin some 20 ms after the others, which wait on its core.
const (
	leastShare = 10 // percent
	leastOnce  = int64(50 * time.Millisecond)
)

// holder returns the rank that holds up the others; held has the times of the waits for each rank. A rank does so if its share of the critical path
// is nearer to all that ranks do there than to an equal part. Where cores are taken, messages are on their way for most of the path, and this says
// nothing about the ranks. Besides, others must have waited for the rank: where all compute as long, the path may stay with one of them.
func (rep *Report) holder(held [][]int64) string {
	n, busy := int64(len(rep.Ranks)), int64(0)
	for i := range rep.Ranks {
		busy += rep.Ranks[i].OnPath
	}
	total := rep.Path.To - rep.Path.From
	for i := range rep.Ranks {
		r := &rep.Ranks[i]
		most := func(of int64) bool { return 2*n*r.OnPath > (n+1)*of }
		if n == 1 || r.Held == 0 || !most(busy) || 100*r.OnPath < leastShare*total {
			continue
		}
		// Late again and again, or once and for most of the time that the job has taken.
		if 4*steadily(held[i], len(rep.Ranks)) >= r.OnPath || most(total) && r.OnPath >= leastOnce && 2*r.Held >= r.OnPath {
			return rep.Ranks[i].Name
		}
	}
	return ""
}

// steadily sums up waits for a rank without the longest ones, as many as there are other ranks: all of these wait if a rank is late once,
// because its core was taken.
func steadily(held []int64, ranks int) (sum int64) {
	held = slices.Sorted(slices.Values(held))
	for _, d := range held[:max(0, len(held)-ranks+1)] {
		sum += d
	}
	return sum
}
