package main

import (
	"fmt"
	"slices"

	"gomx/bench/internal/turns"
)

// depthRows are those of queues with much in them.
func depthRows(n counts) []turns.Row {
	all := points(5, 10, 100, 1000, 10_000, 100_000, 1_000_000)
	on := turns.Curve{Picture: "depths"}
	on.Panel = "8 B behind posted receives"
	posted := curve(on, all, func(depth int) turns.Row {
		r := turns.Row{
			Name:    fmt.Sprintf("8 B behind %s posted receives", turns.Number(depth)),
			Program: "mpi_depth", Args: []string{"-posted", n.of(depth), "-count", n.of(1000)}, Ranks: 2, MPIs: true,
			Memory: int64(depth) * depthMemory,
		}
		if depth > 100_000 {
			r.Not = notMPIs("each half of a round trip takes milliseconds by then")
		}
		return r
	})
	on.Panel = "Unexpected messages, newest first"
	unexpected := curve(on, all, func(depth int) turns.Row {
		r := turns.Row{
			Name:    fmt.Sprintf("%s unexpected messages", turns.Number(depth)),
			Program: "mpi_depth", Args: []string{"-unexpected", n.of(depth)}, Ranks: 2, MPIs: true,
			Memory: int64(depth) * depthMemory,
		}
		if depth > 10_000 {
			r.Not = notMPIs("receiving takes the square of the depth, which is minutes by then")
		}
		return r
	})
	on.Panel = "Unexpected messages, received with masks"
	var masked []turns.Row
	for _, masks := range []int{1, 8, 16} {
		on.Name = fmt.Sprint(masks, " masks")
		if masks == 1 {
			on.Name = "one mask"
		}
		masked = append(masked, curve(on, all, func(depth int) turns.Row {
			r := turns.Row{
				Name:    fmt.Sprintf("%s unexpected messages, %s", turns.Number(depth), on.Name),
				Program: "mx_masks", Args: []string{"-unexpected", n.of(depth), "-masks", fmt.Sprint(masks)}, Shape: turns.Alone,
				Memory: int64(depth) * depthMemory,
			}
			if masks > 1 && depth == 1_000_000 {
				r.Bar = turns.Bar{Within: 5}
			}
			return r
		})...)
	}
	return slices.Concat(posted, unexpected, masked)
}

// depthMemory is what a receive or a message that waits takes, on both sides.
const depthMemory = 2 << 10

// notMPIs leaves out both MPIs.
func notMPIs(why string) map[string]string {
	not := map[string]string{}
	for _, name := range turns.MPIs {
		not[name] = why
	}
	return not
}
