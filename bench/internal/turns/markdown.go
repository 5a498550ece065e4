package turns

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gomx/bench/stats"
)

// writeMarkdown prints tables for the documentation: a line for each row, in it the median of each subject with the
// processor time for each operation behind it.
func writeMarkdown(w io.Writer, t *Table) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Medians of %s in turn, over %s. %s.\n", t.Rounds(), mediumName(t.Over), t.Origin())
	for _, s := range t.sheets {
		if lines := t.Of(s.Of).Lines; len(lines) > 0 {
			fmt.Fprintf(&text, "\n%s: us, and behind the stroke us of processor time, unless the line says otherwise:\n\n", s.Title)
			writeSheet(&text, lines)
		}
	}
	t.writeReasons(&text)
	_, err := io.WriteString(w, text.String())
	return err
}

// writeReasons says why figures are not there, once for each subject and reason.
func (t *Table) writeReasons(text *strings.Builder) {
	var seen []string
	for _, l := range t.Lines {
		for _, c := range l.Cells {
			if c.reason == "" || len(c.Values) > 0 {
				continue
			}
			if why := c.Name + ": " + c.reason; !slices.Contains(seen, why) {
				seen = append(seen, why)
			}
		}
	}
	if len(seen) > 0 {
		fmt.Fprintf(text, "\nWhere there is no figure: %s.\n", strings.Join(seen, "; "))
	}
}

func writeSheet(text *strings.Builder, lines []*Line) {
	var columns []string
	for _, l := range lines {
		for _, c := range l.Cells {
			if !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	head := append([]string{"program"}, columns...)
	if len(columns) > 1 {
		head = append(head, "gomx / the best", "bar")
	}
	text.WriteString(markdownLine(head) + "|---|" + strings.Repeat("---:|", len(head)-1) + "\n")
	for _, l := range lines {
		words := []string{l.Name}
		if l.Unit != "" {
			words[0] += ", " + l.Unit
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
func (l *Line) word(name string) string {
	i := slices.IndexFunc(l.Cells, func(c *Cell) bool { return c.Name == name })
	switch {
	case i < 0:
		return ""
	case len(l.Cells[i].Values) == 0:
		return l.Cells[i].lacking()
	case l.Unit != "" || stats.Median(l.Cells[i].CPU) == 0: // perftest does not know it
		return short(stats.Median(l.Cells[i].Values))
	}
	c := l.Cells[i]
	return short(stats.Median(c.Values)) + " / " + short(stats.Median(c.CPU))
}

// ratioToBest is gomx's median by that of the best other library or socket, without what has no library at all.
func (l *Line) ratioToBest() string {
	others := slices.Concat(MPIs, SystemTCP)
	r := stats.Ratio(stats.Median(l.Cells[0].Values), l.best(others))
	if math.IsNaN(r) {
		return ""
	}
	if r < 0.1 {
		return fmt.Sprintf("%.2g", r)
	}
	return fmt.Sprintf("%.2f", r)
}

// Rounds is of how many rounds the medians are: not the same number for all, where several runs are put together.
func (t *Table) Rounds() string {
	least, most := math.MaxInt, 0
	for _, l := range t.Lines {
		for _, c := range l.Cells {
			if n := len(c.Values); n > 0 {
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
