package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
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

// run runs the program; it is killed if it hangs.
func run(t *testing.T, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tooltest.Path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("exs_blast %v hangs; it said\n%s%s", args, stdout.String(), stderr.String())
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// measured is run, and fails the test unless all was measured.
func measured(t *testing.T, args ...string) string {
	t.Helper()
	o := run(t, args...)
	if o.status != 0 || o.stderr != "" {
		t.Fatalf("exs_blast %v: status %d\n%s%s", args, o.status, o.stdout, o.stderr)
	}
	return o.stdout
}

type line struct {
	Mode        string             `json:"mode"`
	Type        string             `json:"type"`
	Transport   string             `json:"transport"`
	Length      int                `json:"length"`
	InFlight    int                `json:"in_flight"`
	Count       int                `json:"count"`
	Throughput  float64            `json:"throughput_MBps"`
	Rate        float64            `json:"rate_Mmsgps"`
	Latency     map[string]float64 `json:"latency_us"`
	SenderCPU   float64            `json:"sender_cpu_percent"`
	ReceiverCPU float64            `json:"receiver_cpu_percent"`
	CPUPerByte  float64            `json:"cpu_ns_per_byte"`
}

func jsonLines(t *testing.T, args ...string) (lines []line) {
	t.Helper()
	in := json.NewDecoder(strings.NewReader(measured(t, append(args, "-json")...)))
	in.DisallowUnknownFields()
	for in.More() {
		var l line
		if err := in.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// needMedium skips a test of EXS between two processes where they have nothing to
// meet over.
func needMedium(t *testing.T) {
	t.Helper()
	why := "needs shm or tcp between two processes;"
	for _, tr := range mx.Transports() {
		if tr.Name == "shm" || tr.Name == "tcp" {
			if tr.Available {
				return
			}
			why += " " + tr.Name + ": " + tr.Reason
		}
	}
	t.Skip(why)
}

// server starts `exs_blast -s` on a free port, and returns that.
func server(t *testing.T) (cmd *exec.Cmd, port string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cmd = exec.CommandContext(ctx, tooltest.Path, "-s", "-p", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(said, "exs_blast server on ") {
		t.Fatalf("the server said %q, %v", said, err)
	}
	return cmd, strings.TrimSpace(said[strings.LastIndex(said, ":")+1:])
}
