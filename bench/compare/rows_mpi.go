package main

import (
	"fmt"

	"gomx/bench/internal/turns"
)

// mpiRows are those of package mpi beside the MPIs that are measured only when they are asked for, but for one of each program.
func mpiRows(n func(int) string) (all []turns.Row) {
	add := func(ranks int, more bool, name, program string, args ...string) *turns.Row {
		all = append(all, turns.Row{Name: name, Program: program, Args: args, Ranks: ranks, MPIs: true, More: more})
		return &all[len(all)-1]
	}
	ms := n(500)
	add(2, true, "second of two messages of 8 B, the sender computes", "mpi_pace", "-count", n(2000))
	for _, s := range []struct{ length, count int }{
		{0, 200_000}, {64, 200_000}, {512, 100_000}, {4 << 10, 50_000}, {32 << 10, 10_000}, {256 << 10, 2000}, {2 << 20, 200},
	} {
		r := add(2, true, "mpi ping-pong "+turns.Size(s.length), "mpi_pingpong", "-length", fmt.Sprint(s.length), "-count", n(s.count))
		r.Traffic, r.Length, r.Bar = turns.Pings, s.length, turns.NoSlower
	}
	for _, s := range []struct{ length, count int }{{1, 10_000}, {64, 10_000}, {512, 5000}, {4 << 10, 2000}, {32 << 10, 200}, {256 << 10, 40}} {
		r := add(2, true, "mpi 64 x "+turns.Size(s.length)+", Isend, Irecv, WaitAll", "mpi_window", "-length", fmt.Sprint(s.length), "-count", n(s.count))
		r.Traffic, r.Length = turns.Windows, s.length
		if s.length <= 4<<10 {
			r.Bar = turns.NoSlower
		}
	}
	add(2, true, "mpi ping-pong 8 B behind 16,384 posted receives", "mpi_depth", "-posted", n(16_384), "-count", n(1000))
	add(2, true, "32,768 unexpected messages received newest first, each", "mpi_depth", "-unexpected", n(32_768))
	add(9, false, "server of 8 clients, AnySource", "mpi_server", "-ms", ms)
	for _, ranks := range []int{2, 4} {
		of := fmt.Sprintf(", %d ranks", ranks)
		pipeline := len(all)
		add(ranks, ranks == 2, "pipeline of one number at a time"+of, "mpi_pipeline", "-ms", ms)
		for _, cells := range []int{128, 1024} {
			add(ranks, ranks == 2 || cells > 128, fmt.Sprintf("halo of %d x %d cells%s", cells, cells, of), "mpi_halo", "-cells", fmt.Sprint(cells), "-ms", ms)
		}
		add(ranks, ranks == 2, "Iallreduce and Test"+of, "mpi_poll", "-ms", ms)
		add(ranks, true, "Iallreduce and Wait"+of, "mpi_poll", "-ms", ms, "-wait")
		add(ranks, true, "FetchAndOp"+of, "mpi_counter", "-ms", ms)
		add(ranks, ranks == 4, "FetchAndOp, spun on until it is one's turn"+of, "mpi_counter", "-ms", ms, "-turns")
		lock := len(all)
		add(ranks, ranks == 2, "lock of Mellor-Crummey and Scott"+of, "mpi_mcs", "-ms", ms)
		if ranks == 2 {
			all[pipeline].Bar = turns.AtMost(1, turns.MPICH)
		} else {
			all[lock].Bar = turns.AtMost(1, turns.MPICH)
		}
	}
	for _, ranks := range []int{2, 3, 4, 8} {
		of := fmt.Sprintf(", %d ranks", ranks)
		add(ranks, ranks != 4, "barrier"+of, "mpi_collective", "-call", "barrier", "-ms", ms).Bar = turns.NoSlower
		for _, length := range []int{8, 4 << 10, 256 << 10, 2 << 20} {
			for _, call := range []string{"bcast", "reduce", "allreduce", "alltoall", "allgather", "gather", "scatter"} {
				more := call != "allreduce" || ranks != 4 || length != 8
				add(ranks, more, call+" "+turns.Size(length)+of, "mpi_collective", "-call", call, "-length", fmt.Sprint(length), "-ms", ms).Bar = turns.NoSlower
			}
		}
	}
	for _, ranks := range []int{16, 32, 64, 128} {
		for _, call := range []string{"barrier", "allreduce", "allgather"} {
			r := add(ranks, true, fmt.Sprintf("%s, %d ranks", call, ranks), "mpi_collective", "-call", call, "-ms", ms)
			if call == "allreduce" && ranks > 16 {
				r.Bar = turns.AtMost(1.2, turns.OpenMPI)
			}
		}
	}
	return all
}
