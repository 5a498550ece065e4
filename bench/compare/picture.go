package main

import (
	"errors"
	"fmt"
	"math"

	"gomx/bench/internal/turns"
	"gomx/bench/plot"
	"gomx/bench/stats"
)

// draw makes a picture of the ping-pongs of package mpi, as programs have them by default: latency and bandwidth over size.
func draw(file string, t *turns.Table) error {
	var all []plot.Series
	for _, l := range t.Lines {
		if l.Traffic != turns.Pings {
			continue
		}
		for _, c := range l.Cells {
			us := stats.Median(c.Values)
			if math.IsNaN(us) {
				continue
			}
			all = addPoint(all, c.Name, plot.Point{Length: l.Length, LatencyUs: us, BandwidthMBps: float64(l.Length) / us})
		}
	}
	if len(all) == 0 {
		return errors.New("-plot draws the rows that -only 'mpi ping-pong' measures, and there are none")
	}
	return plot.Draw(file, plot.Caption{
		Title: "A message there and back between two ranks, by Send and Recv, over " + t.Medium(),
		Notes: []string{t.Origin(), fmt.Sprintf("Medians of %s in turn; default options; a core for each rank, 0 and 1.", t.Rounds())},
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
