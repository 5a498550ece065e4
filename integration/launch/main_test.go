//go:build linux

package launch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{proc.ProgramRole: proc.RunProgram})
}

// Programs that launchers start.
const (
	exchange = "exchange"
	ring     = "mpi_ring"
	heat     = "mpi_heat"
	sorts    = "mpi_sort"
	keys     = "nas_is"
)

// TestLaunchers builds them once, and has each launcher start them.
func TestLaunchers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this builds eight programs and starts them by each launcher")
	}
	bin := proc.Build(t, "integration/launch/exchange", "examples/mpi_ring", "examples/mpi_heat", "examples/mpi_sort", "examples/nas_is",
		"examples/mpi_nbody", "examples/nas_ep", "examples/nas_cg", "cmd/mx_run")
	for _, by := range []struct {
		name string
		test func(t *testing.T, bin string)
	}{
		{"nobody", alone}, {"mx_run", byRun}, {"mx_run, programs of MPICH", mpich}, {"Hydra", byHydra},
		{"Hydra, several hosts", hydraOnHosts}, {"Slurm", bySlurm}, {"hand, several hosts", hostsByHand},
		{"hand, a late name", lateName},
	} {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			by.test(t, bin)
		})
	}
}

// outcome is what a program has printed, and its exit status.
type outcome struct {
	lines  []string
	status int
}

// ran waits for the end of a program.
func ran(p proc.Program) (o outcome) {
	o.lines, o.status = p.Ends()
	return o
}

func (o outcome) String() string {
	return fmt.Sprintf("status %d\n%s", o.status, strings.Join(o.lines, "\n"))
}

func (o outcome) has(text string) bool {
	return slices.ContainsFunc(o.lines, func(line string) bool { return strings.Contains(line, text) })
}

// wantExchange checks that so many ranks have exchanged business cards.
func wantExchange(t *testing.T, o outcome, ranks int, launcher string, secret bool) {
	t.Helper()
	var all, want []string
	for _, line := range o.lines {
		if strings.HasPrefix(line, "rank ") {
			all = append(all, line)
		}
	}
	for rank := range ranks {
		want = append(want, fmt.Sprintf("rank %d of %d has all business cards, by %s, secret %t", rank, ranks, launcher, secret))
	}
	slices.Sort(all)
	slices.Sort(want)
	if o.status != 0 || !slices.Equal(all, want) {
		t.Errorf("%v\nwant status 0, and business cards of %d ranks, by %s, secret %t", o, ranks, launcher, secret)
	}
}

// wantResults checks what the examples print: it must not depend on how they were started.
func wantResults(t *testing.T, run func(program string, args ...string) outcome) {
	t.Helper()
	results := map[string]string{
		ring: "all blocks have come home", heat: "checksum 16b76b82dfdbc3df",
		sorts: "1000000 numbers in order, checksum 4866d9bb7447c066", keys: "Verification successful",
		"mpi_nbody": "checksum 5f1579b9c69a8308", "nas_ep": "Verification successful", "nas_cg": "Verification successful",
	}
	for program, result := range results {
		if o := run(program); o.status != 0 || !o.has(result) {
			t.Errorf("%s: %v\nwant %q", program, o, result)
		}
	}
}

// need returns where a program is, or skips the test.
func need(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil { // daemons lie outside of what users search
		path, err = exec.LookPath(filepath.Join("/usr/sbin", name))
	}
	if err != nil {
		t.Skipf("this machine has no %s (Debian: apt-get install %s)", name, debian)
	}
	return path
}

// script writes a program for the shell.
func script(t *testing.T, text string) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "*.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("#!/bin/sh\n" + text + "\n")
	if e := f.Chmod(0o755); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// withoutDescriptor is a script that does what some container runtimes do.
func withoutDescriptor(t *testing.T) string {
	t.Helper()
	bash := need(t, "bash", "bash") // others know descriptors of one digit only
	return script(t, `exec `+bash+` -c 'eval "exec $PMI_FD<&-"; exec "$0" "$@"' "$@"`)
}

// life is that of a program that starts others.
const life = 3 * time.Minute

func options(env ...string) proc.Options { return proc.Options{Env: env, Life: life} }
