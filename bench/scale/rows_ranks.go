package main

import (
	"fmt"
	"slices"

	"gomx/bench/internal/turns"
)

// rankRows are those of ranks that are processes.
func rankRows(n counts) []turns.Row {
	of := func(what string, ranks int) string { return fmt.Sprintf("%s, %d ranks", what, ranks) }
	all := points(6, 2, 4, 8, 16, 32, 64, 128, 256)
	on := turns.Curve{Picture: "ranks"}
	on.Panel = "A job from start to end"
	jobs := curve(on, all, func(ranks int) turns.Row {
		r := turns.Row{Name: of("job", ranks), Unit: "s", Program: "mpi_job", Args: []string{"-count", n.of(100)}, Ranks: ranks, MPIs: true, Whole: true, Not: notMPICH(ranks)}
		switch ranks {
		case 64, 128:
			r.Bar = turns.AtMost(0.5, turns.OpenMPI)
		case 256:
			r.Bar = turns.Bar{Within: 4}
		}
		return r
	})
	on.Panel = "Allreduce of 8 B"
	reductions := curve(on, all, func(ranks int) turns.Row {
		r := turns.Row{Name: of("allreduce 8 B", ranks), Program: "mpi_collective", Args: []string{"-call", "allreduce", "-ms", n.of(300)}, Ranks: ranks, MPIs: true, Not: notMPICH(ranks)}
		if ranks >= 32 && ranks <= 128 {
			r.Bar = turns.AtMost(1.2, turns.OpenMPI)
		}
		return r
	})
	on.Panel = "First Alltoall of 8 B"
	firsts := curve(on, all, func(ranks int) turns.Row {
		return turns.Row{Name: of("first alltoall 8 B", ranks), Unit: "ms", Program: "mpi_job", Args: []string{"-first"}, Ranks: ranks, MPIs: true, Not: notMPICH(ranks)}
	})
	return slices.Concat(jobs, reductions, firsts)
}

// goroutineRows are those of ranks that are goroutines of one process. The MPIs have no such ranks.
func goroutineRows(n counts) []turns.Row {
	of := func(what string, ranks int) string {
		return fmt.Sprintf("%s, %s goroutines", what, turns.Number(ranks))
	}
	all := points(3, 10, 100, 1000, 4000)
	on := turns.Curve{Picture: "goroutines"}
	row := func(name, unit, program string, ranks int, args ...string) turns.Row {
		return turns.Row{
			Name: of(name, ranks), Unit: unit, Program: program, Args: args, Shape: turns.Goroutines, Ranks: ranks,
			Memory: int64(ranks) * ranksMemory,
		}
	}
	on.Panel = "A job from start to end"
	jobs := curve(on, all, func(ranks int) turns.Row {
		r := row("job", "s", "mpi_job", ranks, "-count", n.of(100))
		r.Whole = true
		return r
	})
	on.Panel = "Allreduce of 8 B"
	reductions := curve(on, all, func(ranks int) turns.Row {
		return row("allreduce 8 B", "", "mpi_collective", ranks, "-call", "allreduce", "-ms", n.of(300))
	})
	on.Panel = "First Alltoall of 8 B"
	firsts := curve(on, all, func(ranks int) turns.Row { return row("first alltoall 8 B", "ms", "mpi_job", ranks, "-first") })
	return slices.Concat(jobs, reductions, firsts)
}

// ranksMemory is what a rank that is a goroutine takes.
const ranksMemory = 512 << 10
