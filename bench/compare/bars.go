package main

import (
	"fmt"
	"math"
	"slices"

	"gomx/bench/stats"
)

// bar is a mark that gomx is meant to reach: at most so many times the time of the best of these, of those that were
// measured. Without a limit there is none.
type bar struct {
	limit float64
	of    []string
}

var (
	theMPIs   = []string{"Open MPI", "MPICH"}
	openMPI   = theMPIs[:1]
	mpich     = theMPIs[1:]
	systemTCP = []string{tcpName}

	noSlower = bar{1, theMPIs}
)

// barOver is the bar of a row over a medium: its own over shared memory.
func (r row) barOver(medium string) bar {
	switch {
	case medium == shm:
		return r.bar
	case medium == tcp && r.traffic != uncounted:
		return noSlower
	case medium == tcp && r.program == "exs_echo" && r.sockets:
		return bar{1.15, systemTCP}
	}
	return bar{}
}

// best is the lowest median among those of these names, NaN if there is none.
func (l *line) best(of []string) float64 {
	best := math.NaN()
	for _, c := range l.cells {
		if m := stats.Median(c.values); slices.Contains(of, c.name) && !math.IsNaN(m) && !(best <= m) {
			best = m
		}
	}
	return best
}

// judge says what the bar of a line is, and whether gomx reaches it; "" where there is none, or nothing to compare.
func (l *line) judge() string {
	r := stats.Ratio(stats.Median(l.cells[0].values), l.best(l.bar.of))
	if l.bar.limit == 0 || math.IsNaN(r) {
		return ""
	}
	verdict := "met"
	if r > l.bar.limit {
		verdict = "missed"
	}
	return fmt.Sprintf("%.2f: %s", l.bar.limit, verdict)
}
