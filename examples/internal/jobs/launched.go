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
	dir := t.TempDir()
	launcher, program := filepath.Join(dir, "mx_run"), filepath.Join(dir, "program")
	for binary, pkg := range map[string]string{launcher: "gomx/cmd/mx_run", program: "."} {
		if out, err := exec.Command("go", "build", "-o", binary, pkg).CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", pkg, err, out)
		}
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
