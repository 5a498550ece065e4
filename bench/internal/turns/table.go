package turns

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"gomx/bench/stats"
)

type (
	// Table is what was measured.
	Table struct {
		Lines  []*Line
		Over   string
		sheets []Sheet
	}
	// Line is what was measured of one row. Its first cell is gomx's.
	Line struct {
		Row
		Cells []*Cell
	}
	// Cell is what was measured of one row with one subject.
	Cell struct {
		Name    string
		subject *subject  // nil in figures of earlier runs
		Values  []float64 // of each round
		CPU     []float64 // for each operation, us
		library string    // name and version of an MPI
		failed  bool
		late    bool   // it did not end in time
		reason  string // why it was not measured
	}
)

// Of returns the part of a table that has some of its rows.
func (t *Table) Of(some func(Row) bool) *Table {
	part := *t
	part.Lines = nil
	for _, l := range t.Lines {
		if some(l.Row) {
			part.Lines = append(part.Lines, l)
		}
	}
	return &part
}

func (l *Line) unitName() string {
	if l.Unit == "" {
		return "us"
	}
	return l.Unit
}

// lacking is what a table has in place of a figure.
func (c *Cell) lacking() string {
	if c.failed || c.reason == "" {
		return "failed"
	}
	return "not measured"
}

// writeText prints a line for each row and subject, so that the terminal has enough columns: the figure, the
// processor time for each operation, the figure's ratio to gomx's, and with gomx what it is meant to reach.
func writeText(w io.Writer, t *Table) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "program\tsubject\tfigure\tspread\tprocessor us/op\t/ gomx\tprocessor / gomx\tbar")
	for _, l := range t.Lines {
		name, bar, first := l.Name, l.judge(), l.Cells[0]
		for _, c := range l.Cells {
			if len(c.Values) == 0 {
				fmt.Fprintf(tw, "%s\t%s\t%s\t\t\t\t\t%s\n", name, c.Name, c.lacking(), c.reason)
			} else {
				note := ""
				if c.failed {
					note = " (failed later)"
				}
				s := stats.Summarize(c.Values)
				fmt.Fprintf(tw, "%s\t%s\t%s %s%s\t%s to %s\t%s\t%s\t%s\t%s\n", name, c.Name, short(s.P50), l.unitName(), note,
					short(s.Min), short(s.Max), short(stats.Median(c.CPU)),
					ratio(c.Values, first.Values), ratio(c.CPU, first.CPU), bar)
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
