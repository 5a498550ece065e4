package turns

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Entry is what -json prints for each row and subject, and -from reads.
type Entry struct {
	Program string    `json:"program"`
	Subject string    `json:"subject"`
	Over    string    `json:"over"`
	Unit    string    `json:"unit"`
	Values  []float64 `json:"values"`
	CPU     []float64 `json:"cpu_us_per_op"`
	Library string    `json:"library,omitempty"`
	Failed  bool      `json:"failed,omitempty"`
	Reason  string    `json:"not_measured,omitempty"` // why it was not
}

func writeJSON(w io.Writer, t *Table) error {
	to := json.NewEncoder(w)
	for _, l := range t.Lines {
		for _, c := range l.Cells {
			if err := to.Encode(Entry{l.Name, c.Name, l.medium(t.Over), l.unitName(), c.Values, c.CPU, c.library, c.failed, c.reason}); err != nil {
				return err
			}
		}
	}
	return nil
}

// stored makes a table of the figures of earlier runs; those of the same row and subject are rounds of one. Rows that
// are not wanted, and figures over other media, are left out.
func (o *options) stored() (*Table, error) {
	t := &Table{Over: o.over, sheets: o.program.Sheets}
	known := o.wanted()
	for file := range strings.SplitSeq(o.from, ",") {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for object := range bytes.Lines(text) {
			var e Entry
			if err := json.Unmarshal(object, &e); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if i := slices.IndexFunc(known, func(r Row) bool { return r.Name == e.Program }); i >= 0 && e.Over == known[i].medium(o.over) {
				t.add(known[i], e)
			}
		}
	}
	if len(t.Lines) == 0 {
		return nil, errors.New("-from: no figure of a row that is wanted, over " + o.over)
	}
	slices.SortStableFunc(t.Lines, func(a, b *Line) int { return place(known, a) - place(known, b) })
	return t, nil
}

func place(known []Row, l *Line) int {
	return slices.IndexFunc(known, func(r Row) bool { return r.Name == l.Name })
}

func (t *Table) add(r Row, e Entry) {
	i := slices.IndexFunc(t.Lines, func(l *Line) bool { return l.Name == r.Name })
	if i < 0 {
		r.Bar = r.BarOver(t.Over)
		i = len(t.Lines)
		t.Lines = append(t.Lines, &Line{Row: r})
	}
	l := t.Lines[i]
	j := slices.IndexFunc(l.Cells, func(c *Cell) bool { return c.Name == e.Subject })
	if j < 0 {
		j = len(l.Cells)
		l.Cells = append(l.Cells, &Cell{Name: e.Subject})
	}
	c := l.Cells[j]
	c.Values, c.CPU = append(c.Values, e.Values...), append(c.CPU, e.CPU...)
	c.library, c.failed = cmp.Or(c.library, e.Library), c.failed || e.Failed
	c.reason = cmp.Or(c.reason, e.Reason)
}
