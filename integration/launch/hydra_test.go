//go:build linux

package launch_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"gomx/integration/internal/proc"
)

// TestHydra starts ranks on this host by the mpiexec of MPICH.
func TestHydra(t *testing.T) {
	mpiexec := need(t, "mpiexec.hydra", "mpich")
	bin := built(t)
	run := func(t *testing.T, args ...string) outcome {
		t.Helper()
		return ran(proc.StartProgram(t, options(), append([]string{mpiexec, "-launcher", "fork"}, args...)...))
	}
	for _, ranks := range []int{1, 2, 7, 64} {
		n := fmt.Sprint(ranks)
		wantCards(t, run(t, "-n", n, filepath.Join(bin, cards)), ranks, "Hydra", ranks > 1)
		wantCards(t, run(t, "-pmi-port", "-n", n, filepath.Join(bin, cards)), ranks, "Hydra", ranks > 1)
	}
	t.Run("long cards", func(t *testing.T) {
		wantCards(t, run(t, "-n", "9", "-genv", "MX_CLIQUES", "4", filepath.Join(bin, cards), "-length", "20000"), 9, "Hydra", true)
	})
	t.Run("results", func(t *testing.T) {
		wantResults(t, func(program string, args ...string) outcome {
			return run(t, append([]string{"-n", "4", filepath.Join(bin, program)}, args...)...)
		})
	})
	t.Run("abort", func(t *testing.T) {
		if o := run(t, "-n", "3", filepath.Join(bin, cards), "-abort", "1"); o.status != 7 {
			t.Errorf("%v\nwant status 7", o)
		}
	})
	t.Run("death", func(t *testing.T) {
		if o := run(t, "-n", "3", filepath.Join(bin, cards), "-die", "1"); o.status == 0 {
			t.Error(o)
		}
	})
	t.Run("closed descriptor", func(t *testing.T) {
		o := run(t, "-n", "2", withoutDescriptor(t), filepath.Join(bin, cards))
		if o.status == 0 || !o.has("container runtimes") || !o.has("mpiexec.hydra -n 2") {
			t.Errorf("%v\nwant an error that names the cause", o)
		}
	})
}

// TestRun starts the same by mx_run.
func TestRun(t *testing.T) {
	bin := built(t)
	run := func(args ...string) outcome {
		return ran(proc.StartProgram(t, options(), append([]string{filepath.Join(bin, "mx_run")}, args...)...))
	}
	wantCards(t, run("-n", "64", filepath.Join(bin, cards)), 64, "mx_run", true)
	wantResults(t, func(program string, args ...string) outcome {
		return run(append([]string{"-n", "4", filepath.Join(bin, program)}, args...)...)
	})
}

// TestAlone starts single processes in environments of several.
func TestAlone(t *testing.T) {
	bin := built(t)
	for _, env := range []string{"SLURM_NTASKS=4", "PMI_SIZE=2", "OMPI_COMM_WORLD_SIZE=2", "PMIX_RANK=0"} {
		for _, program := range []string{cards, sorts} {
			o := ran(proc.StartProgram(t, options(env), filepath.Join(bin, program)))
			if o.status == 0 || !o.has("MX_SINGLETON=1") || !o.has("start it with") {
				t.Errorf("%s %s: %v\nwant advice", env, program, o)
			}
		}
	}
	for _, env := range []string{"PMI_SIZE=2 PMI_RANK=1", "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1"} {
		under := script(t, `exec env `+env+` "$@"`)
		for _, program := range []string{cards, sorts} {
			o := ran(proc.StartProgram(t, options(), under, filepath.Join(bin, program)))
			if o.status == 0 || len(o.lines) > 0 {
				t.Errorf("%s %s: %v\nwant failure without a word", env, program, o)
			}
		}
	}
	wantCards(t, ran(proc.StartProgram(t, options("MX_SINGLETON=1", "SLURM_NTASKS=4"), filepath.Join(bin, cards))), 1, "itself", false)
}
