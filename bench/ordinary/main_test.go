package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"gomx/bench/internal/child"
)

// TestOnce runs every program once with small counts. That figures come out is what counts, not which.
func TestOnce(t *testing.T) { tryRows(t, "", 1) }

// TestMoreSockets runs those over net.Conn that are measured only when they are asked for.
func TestMoreSockets(t *testing.T) {
	tryRows(t, "16 connections|16 at a time|file of|64 KiB messages", 1)
}

// TestWithoutSharedMemory has some of them send over TCP.
func TestWithoutSharedMemory(t *testing.T) {
	tryRows(t, "WaitAny|Queue|small GET|dial, echo", 1, "-tcp")
}

// TestMoreSizesAndRanks runs some of the rows that are measured only when they are asked for, and so the smallest and largest messages, and numbers of
// ranks that are no power of two.
func TestMoreSizesAndRanks(t *testing.T) {
	tryRows(t, `^mpi (ping-pong|64 x) (0 B|1 B|2 MiB|32 KiB)|^(bcast|reduce|alltoall|allgather|gather|scatter) 4 KiB, 3 ranks|Wait, 2 ranks|^FetchAndOp, 4 ranks`, 1)
}

// TestOverTCPAmongNeighbours: both together are the slowest.
func TestOverTCPAmongNeighbours(t *testing.T) {
	tryRows(t, "^mpi ping-pong 4 KiB|^pipeline.*, 2 ranks", 1, "-tcp", "-busy")
}

// TestNeighbours has a shell stand in for what computes. It tells its number, and must be gone when end returns.
func TestNeighbours(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("this machine has no sh in PATH, or no /proc")
	}
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	script := fmt.Sprintf("#!%s\necho $$ >> %s\nexec sleep 600\n", shell, told)
	if err := os.WriteFile(filepath.Join(dir, neighbour), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &comparison{options: &options{busy: true}, subjects: []*subject{{folder: dir}}}
	ctx, end := c.amongNeighbours(t.Context())
	var numbers []string
	for ctx.Err() == nil && len(numbers) < runtime.NumCPU() {
		text, _ := os.ReadFile(told)
		numbers = strings.Fields(string(text))
		time.Sleep(time.Millisecond)
	}
	if err := context.Cause(ctx); err != nil {
		t.Error(err)
	}
	end()
	for _, number := range numbers {
		if _, err := os.Stat("/proc/" + number); err == nil {
			t.Errorf("process %s is still there", number)
		}
	}
}

func TestProgramsAreToldToUseTCP(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this machine has no sh in PATH:", err)
	}
	for _, env := range [][]string{nil, {"A=b"}} {
		c := &comparison{options: &options{tcp: true, timeout: time.Minute}}
		out, err := c.stdout(t.Context(), child.Command{Path: sh, Args: []string{"-c", "echo $MX_DISABLE_SHMEM"}, Env: env})
		if err != nil || string(out) != "1\n" {
			t.Errorf("%q, %v", out, err)
		}
	}
}

// TestNeighbourThatEnds: figures without it would be others.
func TestNeighbourThatEnds(t *testing.T) {
	c := &comparison{options: &options{busy: true}, subjects: []*subject{{folder: t.TempDir()}}}
	ctx, end := c.amongNeighbours(t.Context())
	defer end()
	<-ctx.Done()
	if err := context.Cause(ctx); !strings.Contains(err.Error(), "neighbour") {
		t.Errorf("without a program to start: %v", err)
	}
}

// TestAgainst has some of them built inside another checkout as well, which is a copy of this one.
func TestAgainst(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library a second time")
	}
	tryRows(t, "SingleThreaded|grpc call", 2, "-against", copyOfTheModule(t))
}

// tryRows wants a figure of each row that matches, by each of so many versions of gomx. It fetches no modules: what
// needs modules that are not here is named and left out.
func tryRows(t *testing.T, only string, versions int, more ...string) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: processes of one host talk over shared memory")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("this machine has one core, and ranks that never sleep need one each")
	}
	t.Setenv("GOPROXY", "off")
	args := append([]string{"-rounds", "1", "-scale", "200", "-timeout", "2m", "-json", "-only", only}, more...)
	var out, said bytes.Buffer
	if err := ordinary(t.Context(), args, &out, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Log(said.String())
	seen := map[string]int{}
	for text := range bytes.Lines(out.Bytes()) {
		var l struct {
			Program, Subject string
			Values           []float64
			CPU              []float64 `json:"cpu_us_per_op"`
		}
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		if len(l.Values) != 1 || len(l.CPU) != 1 {
			t.Errorf("%s, %s: %v, %v", l.Program, l.Subject, l.Values, l.CPU)
		}
		if l.Subject != "tcp" && l.Subject != "unix" && !strings.Contains(l.Subject, "mpi") {
			seen[l.Program]++
		}
	}
	c := &comparison{options: &options{scale: 1, only: regexp.MustCompile(only)}}
	for _, r := range c.wanted() {
		lacking := strings.Contains("\n"+said.String(), "\n"+r.program+": ")
		if !lacking && seen[r.name] != versions {
			t.Errorf("%s: %d figures of gomx", r.name, seen[r.name])
		}
	}
}

// copyOfTheModule is a folder whose entries are those of this checkout, but for bench, so that the programs and what
// they are made of have to come from here.
func copyOfTheModule(t *testing.T) string {
	t.Helper()
	module, err := modulePath(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "cmd/mx_run", "internal", "endpoint", "exs", "match", "mpi", "mx", "transport", "unexpected"} {
		if err := copyTree(module, there, name); err != nil {
			t.Fatal(err)
		}
	}
	return there
}

func copyTree(from, to, name string) error {
	info, err := os.Stat(from + "/" + name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to+"/"+name, os.DirFS(from+"/"+name))
	}
	text, err := os.ReadFile(from + "/" + name)
	if err != nil {
		return err
	}
	return os.WriteFile(to+"/"+name, text, 0o600)
}

// TestMeasuredOnlyWhenAskedFor wants each row to have a name of its own, and -only to choose among all of them.
func TestMeasuredOnlyWhenAskedFor(t *testing.T) {
	names := func(only string) map[string]bool {
		seen := map[string]bool{}
		for _, r := range (&comparison{options: &options{scale: 1, only: regexp.MustCompile(only)}}).wanted() {
			if seen[r.name] {
				t.Errorf("two rows have the name %s", r.name)
			}
			seen[r.name] = true
		}
		return seen
	}
	few, all := names(""), names(".")
	const large = "alltoall 2 MiB, 8 ranks"
	if few[large] || !all[large] || !few["barrier, 4 ranks"] || len(few) > 40 {
		t.Errorf("%d rows without -only, %d with it", len(few), len(all))
	}
}

func TestSum(t *testing.T) {
	value, cpu, err := sum([]byte("{\"value\":2.5,\"ops\":4,\"cpu_us\":6}\n{\"value\":0,\"ops\":0,\"cpu_us\":2}\n"))
	if err != nil || value != 2.5 || cpu != 2 {
		t.Errorf("%v, %v, %v", value, cpu, err)
	}
	for _, bad := range []string{"", "hello\n", "{\"value\":0,\"ops\":0,\"cpu_us\":2}\n"} {
		if _, _, err := sum([]byte(bad)); err == nil {
			t.Errorf("%q is a figure", bad)
		}
	}
}

func TestFigureLines(t *testing.T) {
	lines := figureLines([]byte("[WARNING] leaked\n{\"value\":2,\"ops\":4,\"cpu_us\":6}\n\n=  BAD TERMINATION\n"))
	if len(lines) != 1 || !bytes.HasPrefix(lines[0], []byte("{")) {
		t.Errorf("%q", lines)
	}
}
