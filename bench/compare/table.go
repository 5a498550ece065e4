package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// missing stands where there is no figure.
const missing = "-"

// grid is a sheet as words: the head line and the lines below it.
func (s *sheet) grid() (head []string, lines [][]string) {
	head = append([]string{s.heading}, s.columns...)
	for _, other := range s.others() {
		head = append(head, s.base+" / "+other)
	}
	for _, line := range s.lines {
		words := []string{line}
		for _, column := range s.columns {
			words = append(words, figure(s.median(line, column)))
		}
		for _, other := range s.others() {
			words = append(words, ratioWord(s.ratio(line, other)))
		}
		lines = append(lines, words)
	}
	if s.against != "" {
		words := []string{s.against}
		for _, column := range s.columns {
			words = append(words, times(s.deepening(column)))
		}
		for range s.others() {
			words = append(words, "")
		}
		lines = append(lines, words)
	}
	return head, lines
}

// figure prints four significant digits, which is more than a round is good for.
func figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return missing
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.1f", v)
	case v >= 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func ratioWord(r float64) string {
	switch {
	case math.IsNaN(r):
		return missing
	case r < 0.095:
		return fmt.Sprintf("%.4f", r)
	case r < 10:
		return fmt.Sprintf("%.2f", r)
	}
	return fmt.Sprintf("%.1f", r)
}

func times(r float64) string {
	if math.IsNaN(r) {
		return missing
	}
	return ratioWord(r) + " x"
}

// writeTables prints every sheet for people at a terminal.
func writeTables(w io.Writer, r *report) error {
	tabs := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\n", r.heading())
	for _, way := range r.ways {
		fmt.Fprintf(w, "  %s\n", way)
	}
	for _, s := range r.sheets {
		fmt.Fprintf(w, "\n%s, %s (%s)\n", s.title, s.unit, s.verdict())
		head, lines := s.grid()
		for _, words := range append([][]string{head}, lines...) {
			// A tab ends every cell, the last included, or it would not be aligned.
			fmt.Fprintf(tabs, "%s\t\n", strings.Join(words, "\t"))
		}
		if err := tabs.Flush(); err != nil {
			return err
		}
	}
	return writeBars(w, r.judge())
}
