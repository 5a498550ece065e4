package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"gomx/bench/internal/turns"
)

// rowTimeout is enough for the largest crowd of simulated endpoints.
const rowTimeout = time.Minute

// quickPoints of each curve are measured with -quick.
const quickPoints = 2

// A point is a place on a curve.
type point struct {
	at   int
	more bool // takes long, and is measured only if -only is given
}

// points are those of a curve, of which the last ones, from some place on, are measured only if -only is given.
func points(few int, at ...int) (all []point) {
	for i, n := range at {
		all = append(all, point{n, i >= few})
	}
	return all
}

// curve makes the rows of one: name and args say what one point is.
func curve(c turns.Curve, all []point, row func(at int) turns.Row) (rows []turns.Row) {
	for i, p := range all {
		r := row(p.at)
		r.Curve = c
		r.Curve.At = p.at
		r.More, r.Quick = p.more, i < quickPoints
		rows = append(rows, r)
	}
	return rows
}

// crowded is how many ranks may share a core of this machine before those of MPICH are left out.
const crowded = 4

// notMPICH leaves MPICH out where so many ranks share the cores of this machine that a row would take minutes.
func notMPICH(ranks int) map[string]string {
	cores := runtime.NumCPU()
	if ranks <= crowded*cores {
		return nil
	}
	return map[string]string{turns.MPICH[0]: fmt.Sprintf(
		"its ranks wait without giving their cores to others, and more than %d on %d cores take minutes", crowded*cores, cores)}
}

// counts divides counts, to see whether everything runs.
type counts int

func (c counts) of(n int) string { return fmt.Sprint(max(1, n/int(c))) }

// rows is what is measured.
func rows(scale int) []turns.Row {
	n := counts(scale)
	return slices.Concat(
		rankRows(n), goroutineRows(n), peerRows(n), depthRows(n), endpointRows(n), sizeRows(n),
	)
}
