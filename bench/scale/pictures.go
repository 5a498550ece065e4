package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gomx/bench/internal/turns"
	"gomx/bench/plot"
	"gomx/bench/stats"
)

// pictures are the files that -plot writes: their names, what stands above them, and over what their curves are drawn.
var pictures = []struct{ name, title, axis, note string }{
	{"ranks", "Ranks that are processes", "ranks", "A job: start, Barrier, 100 Allreduce, Alltoall, end."},
	{"goroutines", "Ranks that are goroutines of one process", "ranks", "A job: start, Barrier, 100 Allreduce, Alltoall, end."},
	{"peers", "One process and many peers", "peers or endpoints", "Messages of 8 B."},
	{"depths", "Messages of 8 B and deep queues", "posted receives or unexpected messages", ""},
	{"endpoints", "Endpoints of a process, and simulated ones in one goroutine", "endpoints", ""},
	{"sizes", "A message there and back between two ranks, by Send and Recv", plot.Bytes, "A core for each rank, 0 and 1."},
}

// checkFolder returns an error if no picture can be written there.
func checkFolder(folder string) error {
	info, err := os.Stat(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("-plot %s: want a folder", folder)
	}
	return err
}

// draw writes a picture for each kind of rows that the table has figures of.
func draw(folder string, t *turns.Table) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	drawn := 0
	for _, p := range pictures {
		t := t.Of(func(r turns.Row) bool { return r.Curve.Picture == p.name })
		panels := panelsOf(t)
		if len(panels) == 0 {
			continue
		}
		drawn++
		notes := []string{t.Origin(), fmt.Sprintf("Medians of %s in turn; default options. %s", t.Rounds(), p.note)}
		if err := plot.DrawPanels(filepath.Join(folder, p.name+".svg"), plot.Caption{Title: p.title, Notes: notes}, p.axis, panels); err != nil {
			return err
		}
	}
	if drawn == 0 {
		return errors.New("-plot: nothing was measured that could be drawn")
	}
	return nil
}

// panelsOf are those of one picture's rows, in their order. Sizes have one more, for what half a round trip moves in its time.
func panelsOf(t *turns.Table) (all []plot.Panel) {
	for _, l := range t.Lines {
		for _, c := range l.Cells {
			if len(c.Values) == 0 {
				continue
			}
			value := stats.Median(c.Values)
			all = add(all, l.Curve.Panel, unitOf(l.Row), seriesName(l.Row, c.Name), plot.Point{Length: l.Curve.At, LatencyUs: value})
			if l.Curve.Picture == "sizes" {
				all = add(all, "Bandwidth", "MB/s", c.Name, plot.Point{Length: l.Length, LatencyUs: float64(l.Length) / value})
			}
		}
	}
	return all
}

// seriesName is the subject's, or what tells the curves of a subject apart that has several.
func seriesName(r turns.Row, subject string) string {
	switch {
	case r.Curve.Name == "":
		return subject
	case subject == turns.GomxName:
		return r.Curve.Name
	}
	return r.Curve.Name + ", " + subject
}

// unitOf is what the axis says of a row's figure.
func unitOf(r turns.Row) string {
	unit := r.Unit
	if unit == "" {
		unit = "µs"
	}
	if what := perWhat[r.Program]; what != "" {
		return unit + " " + what
	}
	return unit
}

// perWhat says what a figure is of, where the title of its panel does not.
var perWhat = map[string]string{
	"mx_round": "a message", "mpi_incast": "a message", "mx_incast": "a message", "mx_masks": "a receive", "mpi_depth": "a message",
}

func add(all []plot.Panel, title, unit, series string, p plot.Point) []plot.Panel {
	i := slices.IndexFunc(all, func(q plot.Panel) bool { return q.Title == title })
	if i < 0 {
		i = len(all)
		all = append(all, plot.Panel{Title: title, Unit: unit})
	}
	j := slices.IndexFunc(all[i].Series, func(s plot.Series) bool { return s.Name == series })
	if j < 0 {
		j = len(all[i].Series)
		all[i].Series = append(all[i].Series, plot.Series{Name: series})
	}
	all[i].Series[j].Points = append(all[i].Series[j].Points, p)
	return all
}
