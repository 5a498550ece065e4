package main

import (
	"errors"
	"fmt"
	"math"

	"gomx/bench/plot"
	"gomx/bench/stats"
)

// draw makes a picture of the ping-pongs of package mpi, as programs have them by default: latency and bandwidth over size.
func (t *table) draw(file string) error {
	var all []plot.Series
	for _, l := range t.lines {
		if l.traffic != pings {
			continue
		}
		for _, c := range l.cells {
			us := stats.Median(c.values)
			if math.IsNaN(us) {
				continue
			}
			all = addPoint(all, c.name, plot.Point{Length: l.length, LatencyUs: us, BandwidthMBps: float64(l.length) / us})
		}
	}
	if len(all) == 0 {
		return errors.New("-plot draws the rows that -only 'mpi ping-pong' measures, and there are none")
	}
	return plot.Draw(file, plot.Caption{
		Title: "A message there and back between two ranks, by Send and Recv, over " + mediumName(t.over),
		Notes: []string{t.origin(), fmt.Sprintf("Medians of %s in turn; default options; a core for each rank, 0 and 1.", t.roundsWord())},
	}, all)
}

func addPoint(all []plot.Series, name string, p plot.Point) []plot.Series {
	for i := range all {
		if all[i].Name == name {
			at := len(all[i].Points)
			for at > 0 && all[i].Points[at-1].Length > p.Length { // rows do not come in the order of sizes
				at--
			}
			all[i].Points = append(all[i].Points[:at:at], append([]plot.Point{p}, all[i].Points[at:]...)...)
			return all
		}
	}
	return append(all, plot.Series{Name: name, Points: []plot.Point{p}})
}
