package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// entry is what -json prints for each row and subject, and -from reads.
type entry struct {
	Program string    `json:"program"`
	Subject string    `json:"subject"`
	Over    string    `json:"over"`
	Unit    string    `json:"unit"`
	Values  []float64 `json:"values"`
	CPU     []float64 `json:"cpu_us_per_op"`
	Library string    `json:"library,omitempty"`
	Failed  bool      `json:"failed,omitempty"`
}

func writeJSON(w io.Writer, t *table) error {
	to := json.NewEncoder(w)
	for _, l := range t.lines {
		for _, c := range l.cells {
			if err := to.Encode(entry{l.name, c.name, t.over, l.unitName(), c.values, c.cpu, c.library, c.failed}); err != nil {
				return err
			}
		}
	}
	return nil
}

// stored makes a table of the figures of earlier runs; those of the same row and subject are rounds of one. Rows that
// are not wanted, and figures over other media, are left out.
func (o *options) stored() (*table, error) {
	t := &table{over: o.over}
	known := o.wanted()
	for file := range strings.SplitSeq(o.from, ",") {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for object := range bytes.Lines(text) {
			var e entry
			if err := json.Unmarshal(object, &e); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if i := slices.IndexFunc(known, func(r row) bool { return r.name == e.Program }); i >= 0 && e.Over == o.over {
				t.add(known[i], e)
			}
		}
	}
	if len(t.lines) == 0 {
		return nil, errors.New("-from: no figure of a row that is wanted, over " + o.over)
	}
	slices.SortStableFunc(t.lines, func(a, b *line) int { return place(known, a) - place(known, b) })
	return t, nil
}

func place(known []row, l *line) int {
	return slices.IndexFunc(known, func(r row) bool { return r.name == l.name })
}

func (t *table) add(r row, e entry) {
	i := slices.IndexFunc(t.lines, func(l *line) bool { return l.name == r.name })
	if i < 0 {
		r.bar = r.barOver(t.over)
		i = len(t.lines)
		t.lines = append(t.lines, &line{row: r})
	}
	l := t.lines[i]
	j := slices.IndexFunc(l.cells, func(c *cell) bool { return c.name == e.Subject })
	if j < 0 {
		j = len(l.cells)
		l.cells = append(l.cells, &cell{name: e.Subject})
	}
	c := l.cells[j]
	c.values, c.cpu = append(c.values, e.Values...), append(c.cpu, e.CPU...)
	c.library, c.failed = e.Library, c.failed || e.Failed
}
