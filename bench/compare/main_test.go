package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gomx/bench/compare/internal/socket"
)

// fakeVariable makes the test binary behave as mx_pingpong: "good" prints what
// is asked for, "bad" fails, "silent" prints nothing of use, "slow" never ends,
// and "tcp" really measures, with bare sockets.
const fakeVariable = "GOMX_FAKE_PINGPONG"

func TestMain(m *testing.M) {
	if socket.IsChild() {
		os.Exit(socket.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	if role := os.Getenv(fakeVariable); role != "" && filepath.Base(os.Args[0]) == "mx_run" {
		os.Exit(fakeRanks(role, os.Args[1:]))
	} else if role != "" {
		os.Exit(fakePingpong(role, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func fakePingpong(role string, args []string) int {
	flags := flag.NewFlagSet("mx_pingpong", flag.ExitOnError)
	lengths, pin := flags.String("L", "", ""), flags.String("pin", "", "")
	iterations, window := flags.Int("N", 0, ""), flags.Int("window", 0, "")
	posted, unexpected := flags.Int("posted", 0, ""), flags.Int("unexpected", 0, "")
	over := flags.String("transport", "", "")
	asJSON, alloc, single := flags.Bool("json", false, ""), flags.Bool("alloc", false, ""), flags.Bool("single", false, "")
	_ = flags.Parse(args)
	switch {
	case role == "bad" || !*asJSON || *pin == "" || *iterations == 0:
		fmt.Fprintln(os.Stderr, "no such luck")
		return 1
	case role == "silent":
		fmt.Println("warm and well")
		return 0
	case role == "slow":
		time.Sleep(time.Hour)
	case role == "tcp":
		_ = os.Setenv(socket.Variable, socket.LeadRole)
		return socket.Main(args[4:], os.Stdout, os.Stderr) // without -json, -transport tcp and -single
	}
	text, _ := os.ReadFile(*lengths)
	for _, word := range strings.Fields(string(text)) {
		fmt.Printf(`{"transport":%q,"length":%s`, *over, word)
		switch {
		case *window > 0:
			fmt.Printf(`,"rate_Mmsgps":%d`, map[bool]int{false: 16, true: 20}[*single])
		case *alloc:
			fmt.Print(`,"latency_us":{"p50":5}`)
		default:
			fmt.Print(`,"latency_us":{"p50":10}`)
		}
		if *unexpected > 0 {
			fmt.Print(`,"unexpected_us_per_msg":0.25`)
		}
		fmt.Printf(`,"posted":%d}`+"\n", *posted)
	}
	return 0
}

// fakeRanks is mx_run with the ranks of collective.
func fakeRanks(role string, args []string) int {
	if role != "good" || len(args) < 5 || args[0] != "-n" || filepath.Base(args[2]) != "collective" || args[3] != "-calls" {
		fmt.Fprintln(os.Stderr, "no such luck")
		return 1
	}
	for word := range strings.SplitSeq(args[4], ",") {
		name, bytes, _ := strings.Cut(word, ":")
		fmt.Printf(`{"call":%q,"length":%s,"ranks":%s,"latency_us":{"p50":3}}`+"\n", name, bytes, args[1])
	}
	return 0
}

// programs makes a folder with the fake as mx_run.
func programs(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(folder, "mx_run"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// run is compare with the fake in gomx's place.
func run(ctx context.Context, t *testing.T, role string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Setenv(fakeVariable, role)
	t.Setenv("TMPDIR", t.TempDir())
	// A child built with the race detector would linger for a second.
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	var out, errs bytes.Buffer
	status = compare(ctx, append([]string{"-gomx", os.Args[0], "-programs", programs(t)}, args...), &out, &errs)
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "gomx-compare-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return status, out.String(), errs.String()
}

func TestCompareGomxAlone(t *testing.T) {
	status, stdout, stderr := run(t.Context(), t, "good", "-peers", "none", "-rounds", "2", "-media", "shm", "-json")
	if status != exitGood {
		t.Fatalf("status %d:\n%s", status, stderr)
	}
	medians := map[string]float64{}
	for decoder := json.NewDecoder(strings.NewReader(stdout)); ; {
		var line jsonLine
		if err := decoder.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for column, median := range line.Median {
			medians[line.Quantity+" "+line.Line+" "+column] = median
			if rounds := len(line.Rounds[column]); rounds != 2 {
				t.Errorf("%s %s: %d rounds, want 2", line.Quantity, line.Line, rounds)
			}
		}
	}
	for place, want := range map[string]float64{
		"latency 0 B gomx": 10, "latency 2 MiB gomx": 10, "rate 8 B gomx": 20, "rate 8 B gomx, any thread": 16, "posted none gomx": 10,
		"posted 16384 gomx": 10, "unexpected 32768 gomx": 0.25,
		"2-ranks half round trip 8 B gomx": 3, "2-ranks half round trip 8 B gomx, any thread": 3, "2-ranks half round trip 8 B mx": 10,
		"2-ranks Barrier gomx": 3, "4-ranks Allreduce 1 MiB gomx": 3, "8-ranks Alltoall 4 KiB gomx": 3,
		"alloc 64 KiB ordinary": 6553.6, "alloc 64 KiB mx.Alloc": 13107.2,
	} {
		if medians[place] != want {
			t.Errorf("%s = %v, want %v", place, medians[place], want)
		}
	}
	if len(medians) != 2*8+2*1+2+1+8+3+4*6 {
		t.Errorf("%d figures: %v", len(medians), medians)
	}
}

func TestCompareDraws(t *testing.T) {
	path := filepath.Join(t.TempDir(), "latency.svg")
	status, _, stderr := run(t.Context(), t, "good", "-peers", "none", "-rounds", "1", "-only", "latency", "-media", "shm", "-plot", path)
	if status != exitGood {
		t.Fatalf("status %d:\n%s", status, stderr)
	}
	if picture, err := os.ReadFile(path); err != nil || !strings.Contains(string(picture), "gomx") {
		t.Errorf("picture of %d bytes, %v", len(picture), err)
	}
}

func TestFailuresAreNamedAndLeftOut(t *testing.T) {
	for role, want := range map[string]string{"bad": "no such luck", "silent": "0 results for 8 B", "slow": "did not end in time"} {
		t.Run(role, func(t *testing.T) {
			args := []string{"-peers", "none", "-rounds", "2", "-only", "rate", "-media", "shm"}
			if role == "slow" {
				args = append(args, "-timeout", "100ms")
			}
			status, stdout, stderr := run(t.Context(), t, role, args...)
			if status != exitFailed || !strings.Contains(stderr, want) {
				t.Errorf("status %d, stderr %q, want %q in it", status, stderr, want)
			}
			if strings.Count(stderr, "gomx failed:") != 1 || strings.Count(stderr, "any thread failed:") != 1 {
				t.Errorf("not tried just once each:\n%s", stderr)
			}
			if !strings.Contains(stdout, "8 B      -") {
				t.Errorf("no empty place in\n%s", stdout)
			}
		})
	}
}

func TestMissingPingpong(t *testing.T) {
	var out, errs bytes.Buffer
	none := filepath.Join(t.TempDir(), "none")
	if status := compare(t.Context(), []string{"-gomx", none, "-peers", "none", "-only", "rate"}, &out, &errs); status != exitFailed {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(errs.String(), "no such file") {
		t.Errorf("stderr %q", errs.String())
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	status, stdout, stderr := run(ctx, t, "slow", "-peers", "none")
	if status != exitFailed || stdout != "" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestLackingPeersAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	status, stdout, stderr := run(t.Context(), t, "good", "-rounds", "1", "-only", "rate", "-media", "shm")
	if status != exitGood {
		t.Errorf("status %d:\n%s", status, stderr)
	}
	for _, want := range []string{"openmpi: not installed: no mpicc.openmpi in PATH", "mpich: not installed: no mpicc.mpich in PATH"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in %q", want, stderr)
		}
	}
	if strings.Contains(stdout, "mpi") {
		t.Errorf("a lacking peer is in\n%s", stdout)
	}
}
