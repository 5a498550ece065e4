package trace

import (
	"slices"
	"sort"
	"time"
)

// Below these a rank holds up nobody. In a job that does nothing but exchange messages, some rank has the largest share of the path, too; and
// where ranks share cores, one may begin some 20 ms after the others, which wait on its core.
const (
	leastShare = 10 // percent
	leastOnce  = int64(50 * time.Millisecond)
)

// shortest is the least length of stretches that are counted; each further one is a sixteenth longer. A rank is slow if its stretches are longer than
// those of the others by a third, and is found for certain if they are half as long again.
const shortest = int64(100 * time.Nanosecond)

// holder returns the rank that holds up the others; held has the times of the waits for each rank, and stretches how long each went on by itself
// each time.
func (rep *Report) holder(held, stretches [][]int64) string {
	numbers := count(stretches)
	for i := range rep.Ranks {
		if len(rep.Ranks) > 1 && rep.Ranks[i].Held > 0 && (rep.slow(i, held[i], stretches, numbers) || rep.lateOnce(i)) {
			return rep.Ranks[i].Name
		}
	}
	return ""
}

// slow says whether a rank goes on by itself for a time that the others don't, again and again, and is waited for. Times alone do not tell: where
// ranks share cores with others, each is without one for longer than a slow rank takes. But this happens to all of them, so that the numbers of long
// stretches differ by chance; those of a rank that is slow differ by more.
func (rep *Report) slow(rank int, held []int64, stretches [][]int64, numbers []numberOf) bool {
	total := rep.Path.To - rep.Path.From
	for i := range numbers {
		others := numbers[i].among(rank)
		mine := from(stretches[rank], numbers[i].length+numbers[i].length/3)
		if d := len(mine) - others; d <= 0 || d*d < 5*(len(mine)+others) {
			continue
		}
		// All others wait if a rank is late.
		if work := steadily(mine, 1); 100*work >= leastShare*total && 4*steadily(held, len(stretches)-1) >= work {
			return true
		}
	}
	return false
}

// numberOf has the two largest numbers of stretches that a rank has of some length and more, and whose the larger is.
type numberOf struct {
	length              int64
	most, second, holds int
}

// among returns the largest number among the ranks but one.
func (n *numberOf) among(but int) int {
	if n.holds == but {
		return n.second
	}
	return n.most
}

// count counts the stretches of all lengths that a rank may exceed by a third.
func count(stretches [][]int64) (numbers []numberOf) {
	longest := int64(0)
	for _, s := range stretches {
		if len(s) > 0 {
			longest = max(longest, s[len(s)-1])
		}
	}
	for length := shortest; length <= longest/4*3; length += length / 16 { // times in a damaged trace may be any: nothing overflows
		n := numberOf{length: length, holds: -1}
		for rank, s := range stretches {
			switch c := len(from(s, length)); {
			case c > n.most:
				n.most, n.second, n.holds = c, n.most, rank
			case c > n.second:
				n.second = c
			}
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// lateOnce says whether others have waited for a rank for most of the time that the job has taken.
func (rep *Report) lateOnce(rank int) bool {
	r, n := &rep.Ranks[rank], int64(len(rep.Ranks))
	return 2*n*r.OnPath > (n+1)*(rep.Path.To-rep.Path.From) && r.OnPath >= leastOnce && 2*r.Held >= r.OnPath
}

// from returns the times that are not below the least one.
func from(sorted []int64, least int64) []int64 {
	return sorted[sort.Search(len(sorted), func(i int) bool { return sorted[i] >= least }):]
}

// steadily sums up times without the longest ones: a rank can be without its core once.
func steadily(times []int64, longest int) (sum int64) {
	times = slices.Sorted(slices.Values(times))
	for _, d := range times[:max(0, len(times)-longest)] {
		sum += d
	}
	return sum
}
