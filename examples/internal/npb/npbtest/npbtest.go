// Package npbtest has a NAS kernel verify itself: the small class at many numbers of ranks, the
// larger ones and several processes where time allows.
package npbtest

import (
	"fmt"
	"io"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/examples/internal/npb"
	"gomx/mpi"
)

// Kernel is the run function of a kernel.
type Kernel func(world *mpi.Comm, class npb.Class, w io.Writer) error

// Verify runs the kernel. Class A has so many ranks, and goes over shared memory and over TCP.
func Verify(t *testing.T, run Kernel, ranksOfA ...int) {
	if testing.Short() {
		verify(t, run, "S", []int{1, 3})
		return
	}
	verify(t, run, "S", []int{1, 2, 3, 4, 5, 7, 8})
	verify(t, run, "W", []int{1, 4, 7})
	t.Run("processes", func(t *testing.T) {
		jobs.Line(t, jobs.Launched(t, 3, "-class", "s"), "Verification successful")
	})
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			verify(t, run, "A", ranksOfA, mpi.WithTransports(transport))
		})
	}
}

func verify(t *testing.T, run Kernel, class npb.Class, ranks []int, opts ...mpi.Option) {
	for _, n := range ranks {
		t.Run(fmt.Sprintf("%s at %d", class, n), func(t *testing.T) {
			out := jobs.Output(t, n, func(world *mpi.Comm, w io.Writer) error { return run(world, class, w) }, opts...)
			jobs.Line(t, out, "Verification successful")
			t.Log(out)
		})
	}
}
