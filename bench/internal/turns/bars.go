package turns

import (
	"fmt"
	"math"
	"slices"

	"gomx/bench/stats"
)

// Bar is a mark that gomx is meant to reach: at most so many times the time of the best of these, of those that were
// measured, or at most so much in the unit of the row. Without a limit there is none.
type Bar struct {
	Limit  float64
	Of     []string
	Within float64 // in the unit of the row
}

// AtMost is the bar of what shall take at most so many times as long as the best of these.
func AtMost(times float64, of []string) Bar { return Bar{Limit: times, Of: of} }

// Names of those that bars are of.
var (
	MPIs      = []string{"Open MPI", "MPICH"}
	OpenMPI   = MPIs[:1]
	MPICH     = MPIs[1:]
	SystemTCP = []string{TCPName}
	Bare      = []string{BareName[SHM], BareName[TCP]}
)

// NoSlower is the bar of what shall take no longer than with the better of the MPIs.
var NoSlower = AtMost(1, MPIs)

// BarOver is the bar of a row over a medium: its own over shared memory.
func (r Row) BarOver(medium string) Bar {
	switch {
	case medium == SHM || r.Over != "":
		return r.Bar
	case medium == TCP && r.Traffic != uncounted:
		return NoSlower
	case medium == TCP && r.Program == "exs_echo" && r.Sockets:
		return AtMost(1.15, SystemTCP)
	}
	return Bar{}
}

// best is the lowest median among those of these names, NaN if there is none.
func (l *Line) best(of []string) float64 {
	best := math.NaN()
	for _, c := range l.Cells {
		if m := stats.Median(c.Values); slices.Contains(of, c.Name) && !math.IsNaN(m) && !(best <= m) {
			best = m
		}
	}
	return best
}

// judge says what the bar of a line is, and whether gomx reaches it; "" where there is none, or nothing to compare.
func (l *Line) judge() string {
	if ours := stats.Median(l.Cells[0].Values); l.Bar.Within > 0 && !math.IsNaN(ours) {
		return fmt.Sprintf("%s %s: %s", short(l.Bar.Within), l.unitName(), verdict(ours <= l.Bar.Within))
	}
	r := stats.Ratio(stats.Median(l.Cells[0].Values), l.best(l.Bar.Of))
	if l.Bar.Limit == 0 || math.IsNaN(r) {
		return ""
	}
	return fmt.Sprintf("%.2f: %s", l.Bar.Limit, verdict(r <= l.Bar.Limit))
}

func verdict(reached bool) string {
	if reached {
		return "met"
	}
	return "missed"
}
