// Command nas_cg is the NAS kernel CG, "conjugate gradient": it estimates the smallest
// eigenvalue of a large sparse matrix by the inverse power method, where each step solves
// a system of equations with 25 iterations of conjugate gradients. Each rank has some rows
// of the matrix and the same rows of all vectors.
//
//	go run ./examples/nas_cg -class W                          alone
//	go run ./cmd/mx_run -n 4 ./examples/nas_cg -class W        four processes on this host
//	go build ./examples/nas_cg && mpiexec.hydra -n 4 ./nas_cg -class W
//	go build ./examples/nas_cg && srun --mpi=pmi2 -n 4 ./nas_cg -class W
//
// It shows Allgatherv in place, which completes the vector that a matrix is multiplied
// with, and Allreduce of one number, which is a scalar product.
//
// The rows are dealt out in blocks, which works for any number of ranks; the benchmark's own
// program cuts the matrix both ways and wants a power of two.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"gomx/examples/internal/npb"
	"gomx/mpi"
)

func main() {
	class := npb.ClassFlag("class")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error { return run(world, *class, os.Stdout) })
}

func run(world *mpi.Comm, class npb.Class, w io.Writer) error {
	p := problems[class]
	s := newSolver(world, p)
	if _, _, err := s.step(); err != nil { // not measured: it touches all memory
		return err
	}
	s.reset()
	if err := world.Barrier(); err != nil { // the clock starts for all at once
		return err
	}
	started, zeta, residual := mpi.Wtime(), 0.0, 0.0
	for range p.steps {
		var err error
		if zeta, residual, err = s.step(); err != nil {
			return err
		}
	}
	return npb.Result{
		Kernel:     "CG",
		Class:      class,
		Size:       fmt.Sprintf("%d rows, %d steps", p.rows, p.steps),
		Answer:     fmt.Sprintf("zeta %.13f, residual %.2e", zeta, residual),
		Seconds:    mpi.Wtime() - started,
		Operations: p.operations(),
		Verified:   math.Abs((zeta-p.zeta)/p.zeta) <= 1e-10,
	}.Report(world, w)
}
