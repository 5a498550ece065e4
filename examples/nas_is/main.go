// Command nas_is is the NAS kernel IS, "integer sort": it ranks many small whole
// numbers, ten times over. Each rank has a part of the keys and sorts it into buckets by
// their high bits; the ranks agree who gets which buckets, exchange their keys, and count
// those they have got.
//
//	go run ./examples/nas_is -class W                          alone
//	go run ./cmd/mx_run -n 4 ./examples/nas_is -class W        four processes on this host
//	go build ./examples/nas_is && mpiexec.hydra -n 4 ./nas_is -class W
//	go build ./examples/nas_is && srun --mpi=pmi2 -n 4 ./nas_is -class W
//
// It shows Allreduce of a table, and Alltoall of counts followed by Alltoallv of what
// they count, which is how data moves to the rank that it belongs to.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"gomx/examples/internal/npb"
	"gomx/mpi"
)

const iterations = 10

func main() {
	class := npb.ClassFlag("class")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *class, os.Stdout) })
}

func run(world *mpi.Comm, class npb.Class, w io.Writer) error {
	p := problems[class]
	s := newSorter(world, p)
	if _, err := s.iterate(1); err != nil { // not measured: it touches all memory
		return err
	}
	if err := world.Barrier(); err != nil { // the clock starts for all at once
		return err
	}
	started, passed := mpi.Wtime(), 0
	for i := 1; i <= iterations; i++ {
		n, err := s.iterate(i)
		if err != nil {
			return err
		}
		passed += n
	}
	seconds := mpi.Wtime() - started
	sorted, err := s.sorted()
	if err != nil {
		return err
	}
	all := []int{passed}
	if err := mpi.Allreduce(world, all, all, mpi.Sum); err != nil {
		return err
	}
	return npb.Result{
		Kernel:     "IS",
		Class:      class,
		Size:       fmt.Sprintf("2^%d keys below 2^%d", p.keysLog, p.maxLog),
		Answer:     fmt.Sprintf("ranks as published: %d of %d, all keys in order: %t", all[0], iterations*tests, sorted),
		Seconds:    seconds,
		Operations: iterations * float64(p.keys()),
		Verified:   all[0] == iterations*tests && sorted,
	}.Report(world, w)
}
