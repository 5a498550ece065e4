package npb

import (
	"errors"
	"fmt"
	"io"

	"gomx/mpi"
)

// ErrVerification is what a kernel ends with whose result is not the published one.
var ErrVerification = errors.New("the result is not that of the benchmark")

// Result is how a run went.
type Result struct {
	Kernel     string  // EP, IS or CG
	Class      Class   // size of the problem
	Size       string  // the same in words
	Answer     string  // what has come out
	Seconds    float64 // time of the part that the benchmark measures, at this rank
	Operations float64 // what the benchmark counts as operations in that part, of all ranks
	Verified   bool    // the result is the published one
}

// Report writes the result to w at rank 0, with the time of the slowest rank. All ranks
// call it. The error at rank 0 is ErrVerification if the result is not the published one.
func (r Result) Report(world *mpi.Comm, w io.Writer) error {
	slowest := make([]float64, 1)
	if err := mpi.Reduce(world, []float64{r.Seconds}, slowest, mpi.Max, 0); err != nil {
		return err
	}
	if world.Rank() != 0 {
		return nil
	}
	r.Seconds = slowest[0]
	return r.print(w, world.Size())
}

func (r Result) print(w io.Writer, ranks int) error {
	verdict := "Verification successful"
	if !r.Verified {
		verdict = "Verification failed"
	}
	_, err := fmt.Fprintf(w, "%s class %s, %s, ranks: %d\n%s\n%s\n%.3f s, %.2f Mop/s\n",
		r.Kernel, r.Class, r.Size, ranks, r.Answer, verdict, r.Seconds, r.Operations/r.Seconds/1e6)
	if err == nil && !r.Verified {
		err = ErrVerification
	}
	return err
}
