package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"gomx/bench/stats"
)

// table is what was measured; a line is one row's, a cell one subject's of it.
type (
	table struct {
		lines []*line
		over  string
	}
	line struct {
		row
		cells []*cell
	}
	cell struct {
		name    string
		subject *subject  // nil in figures of earlier runs
		values  []float64 // of each round
		cpu     []float64 // for each operation, us
		library string    // name and version of an MPI
		failed  bool
	}
)

func (l *line) unitName() string {
	if l.unit == "" {
		return "us"
	}
	return l.unit
}

// writeText prints a line for each row and subject, so that the terminal has enough columns: the figure, the
// processor time for each operation, the figure's ratio to gomx's, and with gomx what it is meant to reach.
func writeText(w io.Writer, t *table) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "program\tsubject\tfigure\tspread\tprocessor us/op\t/ gomx\tprocessor / gomx\tbar")
	for _, l := range t.lines {
		name, bar, first := l.name, l.judge(), l.cells[0]
		for _, c := range l.cells {
			if len(c.values) == 0 {
				fmt.Fprintf(tw, "%s\t%s\tfailed\t\t\t\t\t\n", name, c.name)
			} else {
				note := ""
				if c.failed {
					note = " (failed later)"
				}
				s := stats.Summarize(c.values)
				fmt.Fprintf(tw, "%s\t%s\t%s %s%s\t%s to %s\t%s\t%s\t%s\t%s\n", name, c.name, short(s.P50), l.unitName(), note,
					short(s.Min), short(s.Max), short(stats.Median(c.cpu)),
					ratio(c.values, first.values), ratio(c.cpu, first.cpu), bar)
			}
			name, bar = "", ""
		}
	}
	return tw.Flush()
}

// ratio is that of the medians.
func ratio(a, b []float64) string {
	r := stats.Ratio(stats.Median(a), stats.Median(b))
	if math.IsNaN(r) {
		return "-"
	}
	return fmt.Sprintf("%.2f", r)
}

// short has three digits that count.
func short(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
