package main

import (
	"math"

	"gomx/bench/plot"
)

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
