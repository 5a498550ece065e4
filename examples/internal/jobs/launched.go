package jobs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Launched runs the example whose folder the test runs in as so many processes, started by
// mx_run, and returns what they have written. The test fails if they don't end well.
func Launched(t testing.TB, ranks int, args ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes exchange messages on Linux only")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	launcher, program := filepath.Join(dir, "mx_run"), filepath.Join(dir, filepath.Base(here))
	// Without the debugger's tables, which take half of the linker's time.
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", dir, "gomx/cmd/mx_run", ".").CombinedOutput(); err != nil {
		t.Fatalf("building mx_run and %s: %v\n%s", here, err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	job := exec.CommandContext(ctx, launcher, append([]string{"-n", strconv.Itoa(ranks), program}, args...)...)
	job.Cancel = func() error { return job.Process.Signal(os.Interrupt) } // mx_run takes the ranks with it
	job.WaitDelay = 10 * time.Second
	out, err := job.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", job.Args, err, out)
	}
	return string(out)
}
