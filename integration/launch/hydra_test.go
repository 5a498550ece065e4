//go:build linux

package launch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gomx/integration/internal/proc"
)

// byHydra starts ranks on this host by the mpiexec of MPICH.
func byHydra(t *testing.T, bin string) {
	mpiexec := need(t, "mpiexec.hydra", "mpich")
	run := func(t *testing.T, args ...string) outcome {
		t.Helper()
		return ran(proc.StartProgram(t, options(), append([]string{mpiexec, "-launcher", "fork"}, args...)...))
	}
	for _, ranks := range []int{1, 2, 7, 64} {
		n := fmt.Sprint(ranks)
		wantExchange(t, run(t, "-n", n, filepath.Join(bin, exchange)), ranks, "Hydra", true)
		wantExchange(t, run(t, "-pmi-port", "-n", n, filepath.Join(bin, exchange)), ranks, "Hydra", true)
	}
	t.Run("long business cards", func(t *testing.T) {
		wantExchange(t, run(t, "-n", "9", "-genv", "MX_CLIQUES", "4", filepath.Join(bin, exchange), "-length", "20000"), 9, "Hydra", true)
	})
	t.Run("results", func(t *testing.T) {
		wantResults(t, func(program string, args ...string) outcome {
			return run(t, append([]string{"-n", "4", filepath.Join(bin, program)}, args...)...)
		})
	})
	t.Run("abort", func(t *testing.T) {
		if o := run(t, "-n", "3", filepath.Join(bin, exchange), "-abort", "1"); o.status != 7 {
			t.Errorf("%v\nwant status 7", o)
		}
	})
	t.Run("failure", func(t *testing.T) {
		if o := run(t, "-n", "3", filepath.Join(bin, exchange), "-die", "1"); o.status == 0 {
			t.Error(o)
		}
	})
	t.Run("closed descriptor", func(t *testing.T) {
		without := withoutDescriptor(t)
		o := run(t, "-n", "2", without, filepath.Join(bin, exchange))
		for again := 0; again < 3 && o.status < 0; again++ { // ranks that end at once now and then kill mpiexec itself, by SIGPIPE
			o = run(t, "-n", "2", without, filepath.Join(bin, exchange))
		}
		if o.status == 0 || !o.has("container runtimes") || !o.has("mpiexec.hydra -n 2") {
			t.Errorf("%v\nwant an error that names the cause", o)
		}
	})
}

// byRun starts the same by mx_run.
func byRun(t *testing.T, bin string) {
	run := func(args ...string) outcome {
		return ran(proc.StartProgram(t, options(), append([]string{filepath.Join(bin, "mx_run")}, args...)...))
	}
	wantExchange(t, run("-n", "64", filepath.Join(bin, exchange)), 64, "mx_run", true)
	wantResults(t, func(program string, args ...string) outcome {
		return run(append([]string{"-n", "4", filepath.Join(bin, program)}, args...)...)
	})
}

// alone starts single processes in environments of several.
func alone(t *testing.T, bin string) {
	for _, env := range []string{"SLURM_NTASKS=4", "PMI_SIZE=2", "OMPI_COMM_WORLD_SIZE=2", "PMIX_RANK=0"} {
		for _, program := range []string{exchange, sorts} {
			o := ran(proc.StartProgram(t, options(env), filepath.Join(bin, program)))
			if o.status == 0 || !o.has("MX_SINGLETON=1") || !o.has("start it with") {
				t.Errorf("%s %s: %v\nwant advice", env, program, o)
			}
		}
	}
	for _, env := range []string{"PMI_SIZE=2 PMI_RANK=1", "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1"} {
		under := script(t, `exec env `+env+` "$@"`)
		for _, program := range []string{exchange, sorts} {
			o := ran(proc.StartProgram(t, options(), under, filepath.Join(bin, program)))
			lines := 0 // the program prints one, if it has not been ended by then; what exchange prints is its own
			if program == sorts {
				lines = 1
			}
			if o.status == 0 || len(o.lines) != lines || lines > 0 && !o.has("rank 0 says what to do") {
				t.Errorf("%s %s: %v\nwant failure, and %d lines", env, program, o, lines)
			}
		}
	}
	wantResults(t, func(program string, args ...string) outcome {
		return ran(proc.StartProgram(t, options(), append([]string{filepath.Join(bin, program)}, args...)...))
	})
	wantExchange(t, ran(proc.StartProgram(t, options("MX_SINGLETON=1", "SLURM_NTASKS=4"), filepath.Join(bin, exchange))), 1, "itself", false)
}

// inC is a program for MPICH.
const inC = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, size, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d: %d\n", rank, size, sum);
	if (argc > 1 && rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 5);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
`

// mpich starts a program of MPICH by mx_run: its server must satisfy others, too.
func mpich(t *testing.T, bin string) {
	mpicc := need(t, "mpicc.mpich", "libmpich-dev")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "sum.c"), filepath.Join(dir, "sum")
	if err := os.WriteFile(source, []byte(inC), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mpicc, "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("%s can't build here: %v: %s", mpicc, err, out)
	}
	run := filepath.Join(bin, "mx_run")
	if o := ran(proc.StartProgram(t, options(), run, "-n", "4", program)); o.status != 0 || !o.has("rank 3 of 4: 6") || !o.has("rank 0 of 4: 6") {
		t.Error(o)
	}
	if o := ran(proc.StartProgram(t, options(), run, "-n", "4", program, "abort")); o.status != 5 || !o.has("rank 1 (process") {
		t.Error(o)
	}
}
