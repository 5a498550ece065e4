package main

import (
	"fmt"
	"slices"

	"gomx/bench/internal/turns"
)

// endpointRows are those of real endpoints of one process, and of engines of simulated ones.
func endpointRows(n counts) (rows []turns.Row) {
	on := turns.Curve{Picture: "endpoints", Panel: "One more endpoint of a process"}
	for _, connect := range []bool{false, true} {
		what, args, opened := "open", []string{}, points(4, 1, 10, 100, 1000)
		if connect {
			what, args, opened = "connect", []string{"-connect"}, points(4, 2, 10, 100, 1000)
		}
		on.Name = what
		rows = append(rows, curve(on, opened, func(endpoints int) turns.Row {
			r := turns.Row{
				Name:    fmt.Sprintf("%s endpoint %s of a process", what, turns.Number(endpoints)),
				Program: "mx_open", Args: append(args[:len(args):len(args)], "-endpoints", fmt.Sprint(endpoints)), Shape: turns.Alone,
			}
			switch {
			case !connect && endpoints == 1:
				r.Bar = turns.Bar{Within: 1000}
			case !connect && endpoints == 1000:
				r.Bar = turns.Bar{Within: 200}
			}
			return r
		})...)
	}
	return slices.Concat(rows, crowdRows(n))
}

// crowds are how engines know each other, and what their medium needs.
var crowds = []struct {
	name string
	args []string
}{
	{"16 peers each", nil},
	{"16 peers each, healing", []string{"-heals"}},
	{"all with one", []string{"-star"}},
	{"all with one, healing", []string{"-star", "-heals"}},
}

// crowdRows are those of simulated endpoints. Memory has one value for all ways to be connected but what heals, so two are enough.
func crowdRows(n counts) (rows []turns.Row) {
	all := points(2, 1000, 10_000, 100_000)
	for _, f := range []struct{ figure, panel, unit string }{
		{"message", "A message between simulated endpoints", "ns"},
		{"peer", "Memory of a peer of simulated endpoints", "B"},
	} {
		for i, c := range crowds {
			if f.figure == "peer" && i >= 2 {
				continue
			}
			on := turns.Curve{Picture: "endpoints", Panel: f.panel, Name: c.name}
			rows = append(rows, curve(on, all, func(endpoints int) turns.Row {
				return turns.Row{
					Name: fmt.Sprintf("%s of %s simulated endpoints, %s", f.figure, turns.Number(endpoints), c.name), Unit: f.unit,
					Program: "engine_crowd", Shape: turns.Alone, Memory: int64(endpoints) * crowdMemory,
					Args: append([]string{"-endpoints", n.of(endpoints), "-messages", n.of(500_000), "-figure", f.figure}, c.args...),
				}
			})...)
		}
	}
	return rows
}

// crowdMemory is what a simulated endpoint takes with 16 peers, and garbage.
const crowdMemory = 96 << 10
