package main

import (
	"fmt"
	"slices"
)

// unsteady is how many times the quickest round the slowest may take before the
// reader is told that something else was going on.
const unsteady = 2

// restlessness says how many figures varied more than that from round to round,
// and which did most; "" if none did.
func (r *report) restlessness() string {
	restless, all, worst, where := 0, 0, 1.0, ""
	for _, s := range r.sheets {
		for _, line := range s.lines {
			for _, column := range s.columns {
				samples := s.cells[cell{line, column}]
				if len(samples) == 0 {
					continue
				}
				all++
				lowest, highest := slices.Min(samples), slices.Max(samples)
				if highest <= unsteady*lowest {
					continue
				}
				restless++
				if spread := highest / lowest; spread > worst {
					worst = spread
					where = fmt.Sprintf("%s %s %s of %s from %s to %s %s", string(s.medium), s.quantity, line, column, figure(lowest), figure(highest), s.unit)
				}
			}
		}
	}
	if restless == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d figures varied more than %dx between rounds (most: %s): was the machine busy?", restless, all, unsteady, where)
}
