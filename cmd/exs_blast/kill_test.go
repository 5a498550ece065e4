package main_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
)

// endless starts a client that has much to measure, and returns when it has printed
// something. end waits for its end.
func endless(t *testing.T, args ...string) (cmd *exec.Cmd, end func() outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, tooltest.Path, append(args, "-t", "1ms", "-S", "64", "-E", "1000000", "-M", "1.01", "-json")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		_ = cmd.Wait()
		t.Fatalf("exs_blast %v measures nothing; it said %s", args, stderr.String())
	}
	return cmd, func() outcome {
		for lines.Scan() {
		}
		_ = cmd.Wait()
		if ctx.Err() != nil {
			t.Fatalf("exs_blast %v hangs", args)
		}
		return outcome{"", stderr.String(), cmd.ProcessState.ExitCode()}
	}
}

// A server outlives a client that is killed, and notices.
func TestClientDies(t *testing.T) {
	needMedium(t)
	_, port := server(t)
	for _, how := range []string{"-latency", "-inflight=3"} {
		cmd, end := endless(t, "-d", "localhost", "-p", port, how)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		end()
		if lines := jsonLines(t, "-d", "localhost", "-p", port, "-S", "1000", "-E", "1001", "-N", "20", "-inflight", "2"); len(lines) != 3 {
			t.Errorf("%+v", lines)
		}
	}
}

func TestServerDiesAmongMessages(t *testing.T) {
	needMedium(t)
	cmd, port := server(t)
	_, end := endless(t, "-d", "localhost", "-p", port)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if o := end(); o.status != 1 || !strings.HasPrefix(o.stderr, "exs_blast: ") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
}

func TestInterrupt(t *testing.T) {
	needMedium(t)
	cmd, end := endless(t)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if o := end(); o.status != 1 || !strings.Contains(o.stderr, "interrupted") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
}
