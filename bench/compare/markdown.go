package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gomx/bench/stats"
)

// sheets are the tables of a document: what stands beside MPIs, beside sockets, and alone.
var sheets = []struct {
	title string
	of    func(row) bool
}{
	{"Ranks", func(r row) bool { return r.mpis }},
	{"Connections", func(r row) bool { return r.sockets }},
	{"Endpoints, and what stands alone", func(r row) bool { return !r.mpis && !r.sockets }},
}

// writeMarkdown prints tables for the documentation: a line for each row, in it the median of each subject with the
// processor time for each operation behind it.
func writeMarkdown(w io.Writer, t *table) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Medians of %s in turn, over %s. %s.\n", t.roundsWord(), mediumName(t.over), t.origin())
	for _, s := range sheets {
		var lines []*line
		for _, l := range t.lines {
			if s.of(l.row) {
				lines = append(lines, l)
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(&text, "\n%s: us, and behind the stroke us of processor time, unless the line says otherwise:\n\n", s.title)
			writeSheet(&text, lines)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func writeSheet(text *strings.Builder, lines []*line) {
	var columns []string
	for _, l := range lines {
		for _, c := range l.cells {
			if !slices.Contains(columns, c.name) {
				columns = append(columns, c.name)
			}
		}
	}
	head := append([]string{"program"}, columns...)
	if len(columns) > 1 {
		head = append(head, "gomx / the best", "bar")
	}
	text.WriteString(markdownLine(head) + "|---|" + strings.Repeat("---:|", len(head)-1) + "\n")
	for _, l := range lines {
		words := []string{l.name}
		if l.unit != "" {
			words[0] += ", " + l.unit
		}
		for _, name := range columns {
			words = append(words, l.word(name))
		}
		if len(columns) > 1 {
			words = append(words, l.ratioToBest(), l.judge())
		}
		text.WriteString(markdownLine(words))
	}
}

// word is the figure of a subject with its processor time.
func (l *line) word(name string) string {
	i := slices.IndexFunc(l.cells, func(c *cell) bool { return c.name == name })
	switch {
	case i < 0:
		return ""
	case len(l.cells[i].values) == 0:
		return "failed"
	case l.unit != "" || stats.Median(l.cells[i].cpu) == 0: // perftest does not know it
		return short(stats.Median(l.cells[i].values))
	}
	c := l.cells[i]
	return short(stats.Median(c.values)) + " / " + short(stats.Median(c.cpu))
}

// ratioToBest is gomx's median by that of the best other library or socket, without what has no library at all.
func (l *line) ratioToBest() string {
	others := slices.Concat(theMPIs, systemTCP)
	r := stats.Ratio(stats.Median(l.cells[0].values), l.best(others))
	if math.IsNaN(r) {
		return ""
	}
	if r < 0.1 {
		return fmt.Sprintf("%.2g", r)
	}
	return fmt.Sprintf("%.2f", r)
}

// roundsWord is of how many rounds the medians are: not the same number for all, where several runs are put together.
func (t *table) roundsWord() string {
	least, most := math.MaxInt, 0
	for _, l := range t.lines {
		for _, c := range l.cells {
			if n := len(c.values); n > 0 {
				least, most = min(least, n), max(most, n)
			}
		}
	}
	switch {
	case most == 1:
		return "1 round"
	case least < most:
		return fmt.Sprintf("%d to %d rounds", least, most)
	}
	return fmt.Sprint(most, " rounds")
}

func markdownLine(words []string) string { return "| " + strings.Join(words, " | ") + " |\n" }
