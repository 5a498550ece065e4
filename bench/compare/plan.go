package main

import (
	"fmt"
	"slices"
	"strings"
)

// Messages at a time that the rate and the bandwidth are measured with.
const (
	window     = 64
	wideWindow = 16 // as many as a queue pair has READs under way at most
)

// Depths of the queues that lie in the way.
const (
	postedDepth     = 16384
	unexpectedDepth = 32768
)

// quantities are the words -only takes, in the order they are measured in.
var quantities = []string{"latency", "rate", "bandwidth", "posted", "unexpected", "alloc", ranksQuantity(2), ranksQuantity(4), ranksQuantity(8)}

// medium is what messages travel over; its value is its word for -media, and the
// name of gomx's transport.
type medium string

const (
	shm  medium = "shm"
	tcp  medium = "tcp"
	rdma medium = "rdma"
)

// media are the words -media takes, in the order they are measured in. The usual ones
// are those that every machine has.
var (
	media      = []string{string(shm), string(tcp), string(rdma)}
	usualMedia = media[:2]
)

// String is the medium's name in titles.
func (m medium) String() string {
	switch m {
	case tcp:
		return "TCP"
	case rdma:
		return "RDMA"
	}
	return "shared memory"
}

// job is one run of a measuring program. Iteration counts keep a run near a
// second on the slowest subject, since a whole comparison is some hundred runs.
type job struct {
	medium     medium
	quantity   string
	lengths    []int
	iterations int
	window     int
	posted     int
	unexpected int
	alloc      bool
	ranks      int // that do calls, with package mpi; 0: two endpoints measure
	calls      []call
}

var wholePlan = []job{
	{medium: shm, quantity: "latency", lengths: []int{0, 8, 64, 512}, iterations: 200_000},
	{medium: shm, quantity: "latency", lengths: []int{4 << 10}, iterations: 50_000},
	{medium: shm, quantity: "latency", lengths: []int{32 << 10}, iterations: 10_000},
	{medium: shm, quantity: "latency", lengths: []int{256 << 10, 2 << 20}, iterations: 500},
	{medium: shm, quantity: "rate", lengths: []int{8}, iterations: 100_000, window: window},
	{medium: shm, quantity: "posted", lengths: []int{8}, iterations: 100_000},
	{medium: shm, quantity: "posted", lengths: []int{8}, iterations: 1000, posted: postedDepth},
	{medium: shm, quantity: "unexpected", lengths: []int{8}, iterations: 21, unexpected: unexpectedDepth},
	{medium: shm, quantity: "alloc", lengths: allocLengths, iterations: 1000},
	{medium: shm, quantity: "alloc", lengths: allocLengths, iterations: 1000, alloc: true},

	{medium: shm, quantity: ranksQuantity(2), ranks: 2, calls: halfRoundTrip, lengths: []int{8}, iterations: 200_000},
	{medium: shm, quantity: ranksQuantity(2), ranks: 2, calls: collectives},
	{medium: shm, quantity: ranksQuantity(4), ranks: 4, calls: collectives},
	{medium: shm, quantity: ranksQuantity(8), ranks: 8, calls: collectives},

	{medium: tcp, quantity: "latency", lengths: []int{0, 8, 64, 512, 4 << 10}, iterations: 20_000},
	{medium: tcp, quantity: "latency", lengths: []int{32 << 10}, iterations: 5000},
	{medium: tcp, quantity: "latency", lengths: []int{256 << 10, 2 << 20}, iterations: 500},
	{medium: tcp, quantity: "rate", lengths: []int{8}, iterations: 10_000, window: window},

	{medium: rdma, quantity: "latency", lengths: []int{8}, iterations: 20_000},
	{medium: rdma, quantity: "latency", lengths: []int{512, 4 << 10}, iterations: 2000},
	{medium: rdma, quantity: "bandwidth", lengths: []int{64 << 10}, iterations: 100, window: wideWindow},
	{medium: rdma, quantity: "bandwidth", lengths: []int{1 << 20}, iterations: 10, window: wideWindow},
}

var allocLengths = []int{64 << 10, 128 << 10, 256 << 10, 512 << 10}

// planFor is the part of the plan that measures the chosen quantities over the
// chosen media.
func planFor(over, only []string) []job {
	var plan []job
	for _, j := range wholePlan {
		if slices.Contains(over, string(j.medium)) && slices.Contains(only, j.quantity) {
			plan = append(plan, j)
		}
	}
	return plan
}

// args are the arguments that mx_pingpong and the MPI rank program share.
func (j job) args(at setting) []string {
	args := []string{"-L", at.lengthsFile, "-N", fmt.Sprint(j.iterations), "-pin", at.cores.String()}
	for _, option := range []struct {
		name  string
		value int
	}{{"-window", j.window}, {"-posted", j.posted}, {"-unexpected", j.unexpected}} {
		if option.value > 0 {
			args = append(args, option.name, fmt.Sprint(option.value))
		}
	}
	return args
}

// String names the job in progress lines.
func (j job) String() string {
	switch {
	case j.ranks > 0:
		lines := make([]string, len(j.calls))
		for i, c := range j.calls {
			lines[i] = c.line()
		}
		return fmt.Sprintf("%s among %d ranks", strings.Join(lines, ", "), j.ranks)
	case j.quantity == "bandwidth":
		return fmt.Sprintf("bandwidth of %s over %v, window %d", sizeName(j.lengths[0]), j.medium, j.window)
	case j.window > 0:
		return fmt.Sprintf("rate of %s over %v, window %d", sizeName(j.lengths[0]), j.medium, j.window)
	case j.posted > 0:
		return fmt.Sprintf("%d receives posted", j.posted)
	case j.unexpected > 0:
		return fmt.Sprintf("%d messages unexpected", j.unexpected)
	case j.quantity == "posted":
		return "none posted"
	}
	names := make([]string, len(j.lengths))
	for i, length := range j.lengths {
		names[i] = sizeName(length)
	}
	sizes := strings.Join(names, ", ")
	switch {
	case j.alloc:
		return "mx.Alloc buffers of " + sizes
	case j.quantity == "alloc":
		return "ordinary buffers of " + sizes
	}
	return fmt.Sprintf("latency of %s over %v", sizes, j.medium)
}

// sizeName is a length as people write it: 0 B, 512 B, 4 KiB, 2 MiB.
func sizeName(length int) string {
	switch {
	case length >= 1<<20 && length%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", length>>20)
	case length >= 1<<10 && length%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", length>>10)
	}
	return fmt.Sprintf("%d B", length)
}
