// Package npbtest has a NAS kernel verify itself: the small classes at many numbers of ranks and as several processes,
// class A if a flag says so.
package npbtest

import (
	"flag"
	"fmt"
	"io"
	"testing"

	"gomx/examples/internal/jobs"
	"gomx/examples/internal/npb"
	"gomx/mpi"
)

// Kernel is the run function of a kernel.
type Kernel func(world *mpi.Comm, class npb.Class, w io.Writer) error

var classA = flag.Bool("npb.a", false, "have kernels verify class A, too, which takes seconds for each number of ranks")

// Verify runs the kernel. So many ranks run class S over shared memory and over TCP, or class A.
func Verify(t *testing.T, run Kernel, ranks ...int) {
	if testing.Short() {
		verify(t, run, "S", []int{1, 3})
		return
	}
	verify(t, run, "S", []int{1, 2, 3, 4, 5, 7, 8})
	verify(t, run, "W", []int{7})
	t.Run("processes", func(t *testing.T) {
		jobs.Line(t, jobs.Launched(t, 3, "-class", "s"), "Verification successful")
	})
	class := npb.Class("S")
	if *classA {
		class = "A"
	}
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			verify(t, run, class, ranks, mpi.WithTransports(transport))
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
