package main

import (
	"fmt"
	"math"
	"slices"

	"gomx/bench/stats"
)

// sheet holds the figures of one table: a line per size or depth, a column per
// subject, and in each cell one sample per round.
type sheet struct {
	medium   medium
	quantity string // its word for -only
	title    string
	unit     string
	heading  string // of the column of line names
	higher   bool   // higher figures are better
	base     string // the column that ratios are of
	// against, if set, adds a line of its name with each column's last line
	// divided by its first.
	against string

	columns []string
	lines   []string
	cells   map[cell][]float64
	lengths map[string]int // message length of a line
}

type cell struct{ line, column string }

func newSheet(over medium, quantity string) *sheet {
	s := &sheet{medium: over, quantity: quantity, unit: "us", base: gomxName, cells: map[cell][]float64{}, lengths: map[string]int{}}
	switch quantity {
	case "latency":
		s.title, s.heading = fmt.Sprintf("Half round trip over %v", over), "length"
	case "rate":
		s.title, s.heading = fmt.Sprintf("Message rate over %v, window %d", over, window), "length"
		s.unit, s.higher = "million messages/s", true
	case "bandwidth":
		s.title, s.heading = fmt.Sprintf("Bandwidth over %v, window %d", over, wideWindow), "length"
		s.unit, s.higher = "MB/s", true
	case "posted":
		s.title, s.heading = "Half round trip of 8 B behind receives that don't match", "posted"
		s.against = "deep / none"
	case "unexpected":
		s.title, s.heading = "Unexpected messages received in reverse order, each", "messages"
	case ranksQuantity(2), ranksQuantity(4), ranksQuantity(8):
		var ranks int
		_, _ = fmt.Sscan(quantity[:1], &ranks)
		s.title, s.heading = fmt.Sprintf("%d ranks of a program, %s, over %v", ranks, sharing(ranks), over), "call"
	case "alloc":
		s.title, s.heading = "Bandwidth of mx.Alloc and ordinary buffers, gomx", "length"
		s.unit, s.higher, s.base = "MB/s", true, "mx.Alloc"
	}
	return s
}

// place says in which line and column of its sheet a job's record belongs.
func place(j job, r record, subject string) cell {
	switch j.quantity {
	case ranksQuantity(2), ranksQuantity(4), ranksQuantity(8):
		return cell{call{r.Call, r.Length}.line(), subject}
	case "posted":
		if j.posted == 0 {
			return cell{"none", subject}
		}
		return cell{fmt.Sprint(j.posted), subject}
	case "unexpected":
		return cell{fmt.Sprint(j.unexpected), subject}
	case "alloc":
		if j.alloc {
			return cell{sizeName(r.Length), "mx.Alloc"}
		}
		return cell{sizeName(r.Length), "ordinary"}
	}
	return cell{sizeName(r.Length), subject}
}

// reserve makes lines and columns known in their order before there are
// figures, so that what fails leaves an empty place and not a shorter table.
func (s *sheet) reserve(j job, subject string) {
	for _, r := range j.records() {
		c := place(j, r, subject)
		if !slices.Contains(s.lines, c.line) {
			s.lines = append(s.lines, c.line)
			s.lengths[c.line] = r.Length
		}
		if !slices.Contains(s.columns, c.column) {
			s.columns = append(s.columns, c.column)
		}
	}
	if i := slices.Index(s.columns, s.base); i > 0 {
		s.columns = slices.Insert(slices.Delete(s.columns, i, i+1), 0, s.base)
	}
}

// records are those that the job will have, without figures.
func (j job) records() (all []record) {
	if j.ranks > 0 {
		for _, c := range j.calls {
			all = append(all, record{Call: c.name, Length: c.bytes, Ranks: j.ranks})
		}
		return all
	}
	for _, length := range j.lengths {
		all = append(all, record{Length: length})
	}
	return all
}

func (s *sheet) add(c cell, value float64) { s.cells[c] = append(s.cells[c], value) }

// median is NaN where there are no samples.
func (s *sheet) median(line, column string) float64 {
	return stats.Median(s.cells[cell{line, column}])
}

// ratio is the base column's median divided by another's, or NaN.
func (s *sheet) ratio(line, column string) float64 {
	return stats.Ratio(s.median(line, s.base), s.median(line, column))
}

// deepening is the last line's median divided by the first's, or NaN.
func (s *sheet) deepening(column string) float64 {
	if len(s.lines) < 2 {
		return math.NaN()
	}
	return stats.Ratio(s.median(s.lines[len(s.lines)-1], column), s.median(s.lines[0], column))
}

// others are the columns that the base is compared with.
func (s *sheet) others() []string {
	var others []string
	for _, column := range s.columns {
		if column != s.base && slices.Contains(s.columns, s.base) {
			others = append(others, column)
		}
	}
	return others
}

// verdict says how to read the ratios.
func (s *sheet) verdict() string {
	if s.higher {
		return fmt.Sprintf("above 1: %s is ahead", s.base)
	}
	return fmt.Sprintf("below 1: %s is ahead", s.base)
}
