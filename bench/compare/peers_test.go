package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gomx/bench/internal/child"
	"gomx/bench/internal/mpis"
)

func TestLibraryName(t *testing.T) {
	for long, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4":                                                       "Open MPI 4.1.4",
		"MPICH Version: 4.0.2;MPICH Release date: Thu Apr  7;MPICH ABI: 14:2:2;MPICH Device: ch4:ucx;MPICH configure:": "MPICH 4.0.2 (ch4:ucx)",
		"MPICH Version:      3.3": "MPICH 3.3",
		"Other MPI 1":             "Other MPI 1",
		"":                        "",
	} {
		if got := libraryName(long); got != want {
			t.Errorf("libraryName(%q) = %q, want %q", long, got, want)
		}
	}
}

// TestRankProgram compiles the C program and runs each kind of job in small.
func TestRankProgram(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("this machine has one core, and two processes that never sleep need one each")
	}
	for _, peer := range knownMPIs(rig{}) {
		t.Run(peer.Name, func(t *testing.T) {
			if err := peer.locate(); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			if err := peer.build(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			c := &comparison{
				subjects: []subject{peer}, rounds: 1, cores: pin{0, 1}, timeout: time.Minute, dir: dir,
				progress: &progress{w: &said, verbose: true},
				plan: []job{
					{medium: tcp, quantity: "latency", lengths: []int{0, 70000}, iterations: 25},
					{medium: tcp, quantity: "rate", lengths: []int{8}, iterations: 5, window: 4},
					{medium: shm, quantity: "latency", lengths: []int{0, 8, 70000}, iterations: 50},
					{medium: shm, quantity: "rate", lengths: []int{8}, iterations: 5, window: 4},
					{medium: shm, quantity: "posted", lengths: []int{8}, iterations: 1, posted: 30},
					{medium: shm, quantity: "unexpected", lengths: []int{8}, iterations: 3, unexpected: 40},
				},
			}
			result, err := c.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(c.failed) > 0 {
				t.Fatalf("failed: %v\n%s", c.failed, said.String())
			}
			for _, want := range []cell{{"70000 B", peer.Name}, {"0 B", peer.Name}} {
				for _, over := range []medium{shm, tcp} {
					if !(result.sheet(over, "latency").median(want.line, want.column) > 0) {
						t.Errorf("no latency of %s over %v", want.line, over)
					}
				}
			}
			if !strings.Contains(strings.ToLower(result.versions[peer.Name]), "mpi") {
				t.Errorf("version %q", result.versions[peer.Name])
			}
		})
	}
}

// An MPI that has printed all that was asked for, and does not end, has been measured; one that has printed less has not.
func TestMPIThatDoesNotEnd(t *testing.T) {
	dir := t.TempDir()
	launcher := filepath.Join(dir, "mpirun")
	script := "#!/bin/sh\necho '{\"length\":8,\"latency_us\":{\"p50\":3}}'\nsleep 60\n"
	if err := os.WriteFile(launcher, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	m := &mpi{MPI: &mpis.MPI{Name: "mpich", LauncherPath: launcher}, dir: dir, folder: dir}
	at := setting{timeout: 300 * time.Millisecond, progress: &progress{w: io.Discard}}
	whole := job{medium: tcp, quantity: "latency", lengths: []int{8}, iterations: 1}
	if records, err := m.run(t.Context(), whole, at); err != nil || len(records) != 1 {
		t.Errorf("all was there: %v, %v", records, err)
	}
	more := whole
	more.lengths = []int{8, 16}
	if _, err := m.run(t.Context(), more, at); !errors.Is(err, child.ErrTimeout) {
		t.Errorf("half of it was there: %v", err)
	}
}
