package main

import (
	"fmt"
	"slices"

	"gomx/bench/internal/turns"
)

// rows is what is measured. scale divides the counts.
func rows(scale int) []turns.Row {
	n := func(count int) string { return fmt.Sprint(max(count/scale, 1)) }
	all := []turns.Row{
		{Name: "mpi ping-pong 8 B", Program: "mpi_pingpong", Args: []string{"-count", n(200_000)}, Ranks: 2, MPIs: true, Traffic: turns.Pings, Length: 8, Bar: turns.AtMost(0.9, turns.OpenMPI)},
		{Name: "mpi ping-pong 8 B, ThreadSingle", Program: "mpi_pingpong", Args: []string{"-count", n(200_000), "-single"}, Ranks: 2, MPIs: true, Bar: turns.AtMost(0.8, turns.OpenMPI)},
		{Name: "mpi 64 x 8 B, Isend, Irecv, WaitAll", Program: "mpi_window", Args: []string{"-count", n(10_000)}, Ranks: 2, MPIs: true, Traffic: turns.Windows, Length: 8, Bar: turns.NoSlower},
		{Name: "mx ping-pong 8 B, SingleThreaded", Program: "mx_loop", Args: []string{"-count", n(200_000), "-single"}, Shape: turns.Pair},
		{Name: "mx ping-pong 8 B, any thread", Program: "mx_loop", Args: []string{"-count", n(200_000)}, Shape: turns.Pair},
		{Name: "mx 64 x 8 B, SingleThreaded", Program: "mx_loop", Args: []string{"-count", n(20_000), "-window", "64", "-single"}, Shape: turns.Pair},
		{Name: "mx 64 x 8 B, any thread", Program: "mx_loop", Args: []string{"-count", n(20_000), "-window", "64"}, Shape: turns.Pair},
		{Name: "mx ping-pong 8 B, WaitAny", Program: "mx_loop", Args: []string{"-count", n(200_000), "-any"}, Shape: turns.Pair},
		{Name: "mx ping-pong 8 B, Queue", Program: "mx_queue", Args: []string{"-count", n(200_000)}, Shape: turns.Pair},
		{Name: "mx 64 x 8 B, WaitAny", Program: "mx_loop", Args: []string{"-count", n(20_000), "-window", "64", "-any"}, Shape: turns.Pair, More: true},
		{Name: "mx 64 x 8 B, Queue", Program: "mx_queue", Args: []string{"-count", n(20_000), "-window", "64"}, Shape: turns.Pair},
		{Name: "mx 64 x 8 B, counter", Program: "mx_counter", Args: []string{"-count", n(20_000), "-window", "64"}, Shape: turns.Pair, More: true},
		{Name: "mx 64 x 8 B, sends counted", Program: "mx_loop", Args: []string{"-count", n(20_000), "-window", "64", "-counted"}, Shape: turns.Pair, More: true},
		{Name: "mx 64 x 8 B, sends counted, IrecvMulti", Program: "mx_multi", Args: []string{"-count", n(20_000), "-window", "64", "-counted"}, Shape: turns.Pair, More: true},
		{Name: "fetch-and-add of 8 B, the owner computes", Program: "mx_atomic", Args: []string{"-count", n(1000)}, Shape: turns.Alone, More: true},
		{Name: "asleep, 8 B a hop, mx", Program: "mx_loop", Args: []string{"-count", n(300), "-pause", "5ms"}, Shape: turns.Pair},
		{Name: "blocked in Wait, of a processor", Unit: "%", Program: "mx_blocked", Args: []string{"-still", n(2000) + "ms"}, Shape: turns.Alone},
		{Name: "context of 100 ms while puts arrive", Unit: "ms", Program: "mx_deadline", Args: []string{"-count", n(20)}, Shape: turns.Alone},
		{Name: "connect of 100 ms while puts arrive", Unit: "ms", Program: "mx_deadline", Args: []string{"-count", n(20), "-timer"}, Shape: turns.Alone},
		{Name: "killed peer, until a send ends", Unit: "ms", Program: "mx_killed", Shape: turns.Alone},
		{Name: "64 idle peers, memory", Unit: "MiB", Program: "mx_idle", Args: []string{"-peers", n(64)}, Shape: turns.Alone},
	}
	for _, late := range []int{0, 3000} {
		all = append(all, turns.Row{
			Name: fmt.Sprintf("300,000 x 500 B, receiver %d s late", late/1000), Unit: "s",
			Program: "mpi_late", Args: []string{"-count", n(300_000), "-late", fmt.Sprint(late / scale)}, Ranks: 2, MPIs: true,
		})
	}
	for _, senders := range []int{1, 10, 1000} {
		all = append(all, turns.Row{
			Name: fmt.Sprintf("never receives, %d senders, memory", senders), Unit: "MiB", Program: "mx_flood", Shape: turns.Alone,
			Args: []string{"-senders", n(senders), "-count", n(max(300_000, 1000*senders))},
		})
	}
	return slices.Concat(all, rowsOfSockets(n), mpiRows(n))
}
