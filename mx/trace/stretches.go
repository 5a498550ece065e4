package trace

import (
	"cmp"
	"slices"
)

// stretches returns for each rank how long it went on by itself each time, between what it sent, received, noted and waited for. The shortest
// come first.
func (t *Trace) stretches(begin int64) [][]int64 {
	points := make([][]point, len(t.Ranks))
	add := func(rank int, at int64, waits int) {
		if rank >= 0 && at >= begin {
			points[rank] = append(points[rank], point{at, waits})
		}
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		add(m.From, m.Sent, 0)
		add(m.To, m.Matched, 0)
	}
	for n, r := range t.Ranks {
		add(n, begin, 0)
		for _, g := range r.Regions {
			add(n, g.From, 0)
			add(n, g.To, 0)
		}
		for _, w := range r.Waits {
			if w.To >= begin {
				add(n, max(w.From, begin), 1)
				add(n, w.To, -1)
			}
		}
	}
	all := make([][]int64, len(t.Ranks))
	for n := range points {
		all[n] = between(points[n])
	}
	return all
}

// point is a time at which something happens on a rank.
type point struct {
	at    int64
	waits int // 1 if a wait begins, -1 if one ends
}

// between returns the times between points outside of waits, the shortest first.
func between(points []point) (stretches []int64) {
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	waits, last := 0, Unknown
	for _, p := range points {
		if waits == 0 && last != Unknown && p.at > last {
			stretches = append(stretches, p.at-last)
		}
		waits += p.waits
		last = p.at
	}
	slices.Sort(stretches)
	return stretches
}
