package main

import (
	"fmt"
	"slices"
)

// shape is how the processes of a program are started.
type shape int

const (
	ranks shape = iota // by a launcher of ranks
	pair               // one with -serve, one without
	alone              // one, which starts others itself
)

// row is one line of the table: a program and its arguments.
type row struct {
	name    string
	unit    string // of the figure; "" is us
	program string
	args    []string
	shape   shape
	ranks   int
	mpis    bool // the MPIs do the same
	sockets bool // the same program does it over TCP and over Unix sockets
	more    bool // measured only if -only is given

	// Of rows in which messages go to and fro, or many at a time: how long each is. What the medium gives stands beside them.
	traffic traffic
	length  int

	bar bar
}

// traffic is what the messages of a row are: none that is counted, pings or windows.
type traffic int

const (
	uncounted traffic = iota
	pings
	windows
)

// rows is what is measured. scale divides the counts.
func rows(scale int) []row {
	n := func(count int) string { return fmt.Sprint(max(count/scale, 1)) }
	all := []row{
		{name: "mpi ping-pong 8 B", program: "mpi_pingpong", args: []string{"-count", n(200_000)}, ranks: 2, mpis: true, traffic: pings, length: 8, bar: bar{0.9, openMPI}},
		{name: "mpi ping-pong 8 B, ThreadSingle", program: "mpi_pingpong", args: []string{"-count", n(200_000), "-single"}, ranks: 2, mpis: true, bar: bar{0.8, openMPI}},
		{name: "mpi 64 x 8 B, Isend, Irecv, WaitAll", program: "mpi_window", args: []string{"-count", n(10_000)}, ranks: 2, mpis: true, traffic: windows, length: 8, bar: noSlower},
		{name: "mx ping-pong 8 B, SingleThreaded", program: "mx_loop", args: []string{"-count", n(200_000), "-single"}, shape: pair},
		{name: "mx ping-pong 8 B, any thread", program: "mx_loop", args: []string{"-count", n(200_000)}, shape: pair},
		{name: "mx 64 x 8 B, SingleThreaded", program: "mx_loop", args: []string{"-count", n(20_000), "-window", "64", "-single"}, shape: pair},
		{name: "mx 64 x 8 B, any thread", program: "mx_loop", args: []string{"-count", n(20_000), "-window", "64"}, shape: pair},
		{name: "mx ping-pong 8 B, WaitAny", program: "mx_loop", args: []string{"-count", n(200_000), "-any"}, shape: pair},
		{name: "mx ping-pong 8 B, Queue", program: "mx_queue", args: []string{"-count", n(200_000)}, shape: pair},
		{name: "mx 64 x 8 B, WaitAny", program: "mx_loop", args: []string{"-count", n(20_000), "-window", "64", "-any"}, shape: pair, more: true},
		{name: "mx 64 x 8 B, Queue", program: "mx_queue", args: []string{"-count", n(20_000), "-window", "64"}, shape: pair},
		{name: "mx 64 x 8 B, counter", program: "mx_counter", args: []string{"-count", n(20_000), "-window", "64"}, shape: pair, more: true},
		{name: "asleep, 8 B a hop, mx", program: "mx_loop", args: []string{"-count", n(300), "-pause", "5ms"}, shape: pair},
		{name: "blocked in Wait, of a processor", unit: "%", program: "mx_blocked", args: []string{"-still", n(2000) + "ms"}, shape: alone},
		{name: "context of 100 ms while puts arrive", unit: "ms", program: "mx_deadline", args: []string{"-count", n(20)}, shape: alone},
		{name: "connect of 100 ms while puts arrive", unit: "ms", program: "mx_deadline", args: []string{"-count", n(20), "-timer"}, shape: alone},
		{name: "killed peer, until a send ends", unit: "ms", program: "mx_killed", shape: alone},
		{name: "64 idle peers, memory", unit: "MiB", program: "mx_idle", args: []string{"-peers", n(64)}, shape: alone},
	}
	for _, late := range []int{0, 3000} {
		all = append(all, row{
			name: fmt.Sprintf("300,000 x 500 B, receiver %d s late", late/1000), unit: "s",
			program: "mpi_late", args: []string{"-count", n(300_000), "-late", fmt.Sprint(late / scale)}, ranks: 2, mpis: true,
		})
	}
	for _, senders := range []int{1, 10, 1000} {
		all = append(all, row{
			name: fmt.Sprintf("never receives, %d senders, memory", senders), unit: "MiB", program: "mx_flood", shape: alone,
			args: []string{"-senders", n(senders), "-count", n(max(300_000, 1000*senders))},
		})
	}
	return slices.Concat(all, rowsOfSockets(n), mpiRows(n))
}
