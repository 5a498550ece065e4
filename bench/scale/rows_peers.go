package main

import (
	"fmt"
	"slices"

	"gomx/bench/internal/turns"
)

// peerRows are those of one process, or one goroutine, and many others.
func peerRows(n counts) (rows []turns.Row) {
	on := turns.Curve{Picture: "peers"}
	for _, over := range []string{turns.SHM, turns.TCP} {
		on.Panel, on.Name = "One goroutine round endpoints of its process", overName(over)
		rows = append(rows, curve(on, points(5, 2, 4, 16, 64, 256), func(endpoints int) turns.Row {
			r := turns.Row{
				Name:    fmt.Sprintf("round %d endpoints, %s", endpoints, overName(over)),
				Program: "mx_round", Args: []string{"-endpoints", fmt.Sprint(endpoints), "-count", n.of(perMedium(over, 200_000))},
				Shape: turns.Alone, Over: over,
			}
			if over == turns.SHM && endpoints == 256 {
				r.Bar = turns.Bar{Within: 1}
			}
			return r
		})...)
		on.Panel, on.Name = "Endpoints of a process send to one", overName(over)
		rows = append(rows, curve(on, points(5, 1, 4, 16, 64, 256), func(endpoints int) turns.Row {
			r := turns.Row{
				Name:    fmt.Sprintf("8 B from %d endpoints of a process, %s", endpoints, overName(over)),
				Program: "mx_incast", Args: []string{"-senders", fmt.Sprint(endpoints), "-count", n.of(1_000_000)}, Shape: turns.Alone, Over: over,
			}
			if over == turns.TCP && endpoints == 256 {
				r.Bar = turns.Bar{Within: 0.5}
			}
			return r
		})...)
		on.Panel, on.Name = "All ranks send to one, "+overName(over), ""
		rows = append(rows, curve(on, points(4, 1, 4, 16, 64, 256), func(peers int) turns.Row {
			return turns.Row{
				Name:    fmt.Sprintf("8 B from %d ranks, %s", peers, overName(over)),
				Program: "mpi_incast", Args: []string{"-count", n.of(perMedium(over, 1_000_000))}, Ranks: peers + 1, MPIs: true, Over: over, Not: notMPICH(peers + 1),
			}
		})...)
	}
	on.Panel, on.Name = "Memory of silent peers", ""
	memory := curve(on, points(4, 1, 4, 16, 64, 256), func(peers int) turns.Row {
		return turns.Row{
			Name: fmt.Sprintf("%d idle peers, memory", peers), Unit: "MiB",
			Program: "mx_idle", Args: []string{"-peers", fmt.Sprint(peers)}, Shape: turns.Alone,
		}
	})
	return slices.Concat(rows, memory)
}

func overName(over string) string {
	if over == turns.TCP {
		return "TCP"
	}
	return "shared memory"
}

// perMedium is a count over shared memory, less over TCP.
func perMedium(over string, count int) int {
	if over == turns.TCP {
		return count / 5
	}
	return count
}
