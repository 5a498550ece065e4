package main

import (
	"errors"
	"math"
	"path/filepath"
	"strings"

	"gomx/bench/plot"
)

// draw makes a picture of the latency over each medium. The first gets the file
// of that name, the others' names have the medium added: results-tcp.svg.
func (r *report) draw(path string) error {
	var errs []error
	first := true
	for _, s := range r.sheets {
		if s.quantity != "latency" {
			continue
		}
		file := path
		if !first {
			ending := filepath.Ext(path)
			file = strings.TrimSuffix(path, ending) + "-" + string(s.medium) + ending
		}
		errs = append(errs, plot.Draw(file, s.picture()))
		first = false
	}
	return errors.Join(errs...)
}

// picture is the latency sheet as what plot.Draw takes.
func (s *sheet) picture() []plot.Series {
	var all []plot.Series
	for _, column := range s.columns {
		series := plot.Series{Name: column}
		for _, line := range s.lines {
			if us := s.median(line, column); !math.IsNaN(us) {
				length := s.lengths[line]
				series.Points = append(series.Points, plot.Point{Length: length, LatencyUs: us, BandwidthMBps: float64(length) / us})
			}
		}
		if len(series.Points) > 0 {
			all = append(all, series)
		}
	}
	return all
}
