package main_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
	"gomx/mx"
)

// outcome is what a run of the program left.
type outcome struct {
	stdout, stderr string
	status         int
}

// start starts the program; it is killed with the test, or if it hangs.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, end func() outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, tooltest.Path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, func() outcome {
		t.Helper()
		err := cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if ctx.Err() != nil {
			t.Fatalf("mx_pingpong %v hangs; it said\n%s%s", args, stdout.String(), stderr.String())
		}
		return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	}
}

func run(t *testing.T, args ...string) outcome {
	t.Helper()
	_, end := start(t, args...)
	return end()
}

// measured is run, and fails the test unless all was measured.
func measured(t *testing.T, args ...string) string {
	t.Helper()
	o := run(t, args...)
	if o.status != 0 || o.stderr != "" {
		t.Fatalf("mx_pingpong %v: status %d\n%s%s", args, o.status, o.stdout, o.stderr)
	}
	return o.stdout
}

// needShm skips a test of two processes where they have nothing to meet over.
func needShm(t *testing.T) {
	t.Helper()
	for _, tr := range mx.Transports() {
		if tr.Name == "shm" && !tr.Available {
			t.Skipf("two processes need shared memory: %s", tr.Reason)
		}
	}
}

func needTwoCores(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.NumCPU() < 2 {
		t.Skip("binding to cores needs Linux and two cores")
	}
}
