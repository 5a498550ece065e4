// Command nas_ep is the NAS kernel EP, "embarrassingly parallel": it makes many pairs
// of normally distributed random numbers and adds them up. The ranks share the pairs,
// work on their own, and add their sums with one Allreduce.
//
//	go run ./examples/nas_ep -class W                          alone
//	go run ./cmd/mx_run -n 4 ./examples/nas_ep -class W        four processes on this host
//	go build ./examples/nas_ep && mpiexec.hydra -n 4 ./nas_ep -class W
//	go build ./examples/nas_ep && srun --mpi=pmi2 -n 4 ./nas_ep -class W
//
// It shows that a program need not know how it was started, how ranks share work, and
// what Allreduce does.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"gomx/examples/internal/block"
	"gomx/examples/internal/npb"
	"gomx/mpi"
)

// published is the result of a class: 2^pairsLog pairs, and the sums of their deviates.
type published struct {
	pairsLog int
	x, y     float64
}

var classes = map[npb.Class]published{
	"S": {24, -3.247834652034740e3, -6.958407078382297e3},
	"W": {25, -2.863319731645753e3, -6.320053679109499e3},
	"A": {28, -4.295875165629892e3, -1.580732573678431e4},
	"B": {30, 4.033815542441498e4, -2.660669192809235e4},
	"C": {32, 4.764367927995374e4, -8.084072988043731e4},
}

func main() {
	class := npb.ClassFlag("class")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *class, os.Stdout) })
}

func run(world *mpi.Comm, class npb.Class, w io.Writer) error {
	want := classes[class]
	if err := world.Barrier(); err != nil { // the clock starts for all at once
		return err
	}
	started := mpi.Wtime()
	all, err := sum(world, 1<<(want.pairsLog-batchLog))
	if err != nil {
		return err
	}
	return npb.Result{
		Kernel:     "EP",
		Class:      class,
		Size:       fmt.Sprintf("2^%d pairs", want.pairsLog),
		Answer:     fmt.Sprintf("sums %.15e %.15e\ncounts %d", all.x, all.y, all.counts),
		Seconds:    mpi.Wtime() - started,
		Operations: math.Ldexp(2, want.pairsLog),
		Verified:   near(all.x, want.x) && near(all.y, want.y),
	}.Report(world, w)
}

// sum adds the pairs of all ranks.
func sum(world *mpi.Comm, batches int) (all tally, err error) {
	var mine tally
	begin, end := block.Of(batches, world.Rank(), world.Size())
	for batch := begin; batch < end; batch++ {
		mine.add(batch)
	}
	sums := []float64{mine.x, mine.y}
	if err := mpi.Allreduce(world, sums, sums, mpi.Sum); err != nil {
		return all, err
	}
	all.x, all.y = sums[0], sums[1]
	return all, mpi.Allreduce(world, mine.counts[:], all.counts[:], mpi.Sum)
}

// near is as close as the benchmark wants it.
func near(got, want float64) bool { return math.Abs((got-want)/want) <= 1e-8 }
