package socket_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gomx/bench/compare/internal/socket"
)

// TestMain lets the test binary be both sides.
func TestMain(m *testing.M) {
	if socket.IsChild() {
		os.Exit(socket.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

type line struct {
	Transport  string
	Length     int
	Iterations int
	Latency    *struct{ P50 float64 } `json:"latency_us"`
	Rate       float64                `json:"rate_Mmsgps"`
}

func run(t *testing.T, lengths string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	if err := socket.Available(); err != nil {
		t.Skip(err)
	}
	if runtime.NumCPU() < 2 {
		t.Skip("this machine has one core, and two processes that never sleep need one each")
	}
	file := filepath.Join(t.TempDir(), "lengths")
	if err := os.WriteFile(file, []byte(lengths), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-L", file}, args...)...)
	cmd.Env = append(os.Environ(), socket.Variable+"="+socket.LeadRole, "GORACE=atexit_sleep_ms=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func measured(t *testing.T, lengths string, args ...string) (lines []line) {
	t.Helper()
	stdout, stderr, err := run(t, lengths, args...)
	if err != nil || stderr != "" {
		t.Fatalf("%v: %s", err, stderr)
	}
	for decoder := json.NewDecoder(strings.NewReader(stdout)); ; {
		var l line
		if err := decoder.Decode(&l); err == io.EOF {
			return lines
		} else if err != nil {
			t.Fatalf("%v in %s", err, stdout)
		}
		lines = append(lines, l)
	}
}

// Sizes from none to more than a socket's buffers hold.
func TestLatency(t *testing.T) {
	lengths := []int{0, 8, 4096, 3 << 20}
	lines := measured(t, strings.Trim(strings.ReplaceAll(fmt.Sprint(lengths), " ", "\n"), "[]")+"\n", "-N", "44", "-pin", "0,1")
	if len(lines) != len(lengths) {
		t.Fatalf("got %+v", lines)
	}
	for i, l := range lines {
		if l.Length != lengths[i] || l.Transport != "tcp" || l.Iterations != 42 || l.Latency == nil || !(l.Latency.P50 > 0) || l.Rate != 0 {
			t.Errorf("%d bytes: got %+v", lengths[i], l)
		}
	}
}

func TestRate(t *testing.T) {
	lines := measured(t, "8\n", "-N", "5", "-window", "64", "-pin", "1,0")
	if len(lines) != 1 || !(lines[0].Rate > 0) || lines[0].Latency != nil || lines[0].Iterations != 5 {
		t.Errorf("got %+v", lines)
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct{ lengths, args, want string }{
		{"8\n", "-pin 0", "two cores"},
		{"8\n", "-pin 0,-1", "no core -1"},
		{"8\n", "-pin 0,1023", "core 1023"},
		{"8\n", "-pin 0,1 -N 0", "-N 0"},
		{"8\n", "-pin 0,1 -window -1", "-window -1"},
		{"8\n", "-pin 0,1 -nosuch", "nosuch"},
		{"-8\n", "-pin 0,1", "not a length"},
		{"8 9\n", "-pin 0,1", "not a length"},
		{"", "-pin 0,1", "no lengths"},
	} {
		stdout, stderr, err := run(t, c.lengths, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%q %s: %v, stdout %q, stderr %q, want %q in it", c.lengths, c.args, err, stdout, stderr, c.want)
		}
	}
}
