package turns

import (
	"bytes"
	"context"
	"fmt"
	"gomx/bench/internal/child"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

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

func TestProgramsAreToldWhatToUse(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this machine has no sh in PATH:", err)
	}
	for over, want := range map[string]string{SHM: " \n", TCP: "1 \n", RDMA: " rdma\n"} {
		for _, env := range [][]string{nil, {"A=b"}} {
			c := &comparison{options: &options{over: over, timeout: time.Minute}}
			out, err := c.stdout(t.Context(), Row{}, child.Command{Path: sh, Args: []string{"-c", "echo $MX_DISABLE_SHMEM $MX_TRANSPORT"}, Env: env})
			if err != nil || strings.TrimSpace(string(out)) != strings.TrimSpace(want) {
				t.Errorf("over %s: %q, %v", over, out, err)
			}
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

func TestSum(t *testing.T) {
	f, err := sum([]byte("{\"value\":2.5,\"ops\":4,\"cpu_us\":6,\"library\":\"X\"}\n{\"value\":0,\"ops\":0,\"cpu_us\":2,\"library\":\"X\"}\n"), false)
	if err != nil || *f != (found{2.5, 4, 2, "X"}) {
		t.Errorf("%+v, %v", f, err)
	}
	for _, bad := range []string{"", "hello\n", "{\"value\":0,\"ops\":0,\"cpu_us\":2}\n"} {
		if _, err := sum([]byte(bad), false); err == nil {
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
