package child_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gomx/bench/internal/child"
)

// TestMain lets the test binary stand in for the children as well, so that the
// tests need no program of the machine.
func TestMain(m *testing.M) {
	switch os.Getenv("CHILD_ROLE") {
	case "":
		os.Exit(m.Run())
	case "echo":
		fmt.Println(strings.Join(os.Args[1:], " "))
	case "fail":
		fmt.Println("all")
		fmt.Fprintln(os.Stderr, "no board here")
		os.Exit(3)
	case "parent":
		haveGrandchild(os.Args[1])
	case "lingerer":
		fmt.Println("all")
		time.Sleep(time.Hour)
	case "sleeper":
		time.Sleep(time.Hour)
	}
}

// haveGrandchild starts a child that never ends and opens path, a pipe that
// stays open for as long as that child lives.
func haveGrandchild(path string) {
	pipe, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	grandchild := exec.Command(os.Args[0])
	grandchild.Env = append(os.Environ(), "CHILD_ROLE=sleeper")
	grandchild.ExtraFiles = []*os.File{pipe}
	if err := grandchild.Start(); err != nil {
		panic(err)
	}
	fmt.Fprintln(pipe, "ready")
	_ = pipe.Close()
	_ = grandchild.Wait()
}

func command(role string, args ...string) child.Command {
	return child.Command{Path: os.Args[0], Args: args, Env: append(os.Environ(), "CHILD_ROLE="+role, "GORACE=atexit_sleep_ms=0"), Timeout: time.Minute}
}

func TestRun(t *testing.T) {
	out, _, err := child.Run(t.Context(), command("echo", "a", "b"))
	if err != nil || string(out) != "a b\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestFailureTellsWhatTheChildSaid(t *testing.T) {
	_, stderr, err := child.Run(t.Context(), command("fail"))
	if err == nil || !strings.Contains(err.Error(), "no board here") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v", err)
	}
	if string(stderr) != "no board here\n" {
		t.Errorf("stderr %q", stderr)
	}
}

func TestMissingProgram(t *testing.T) {
	if _, _, err := child.Run(t.Context(), child.Command{Path: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("no error")
	}
}

func TestTimeout(t *testing.T) {
	c := command("sleeper")
	c.Timeout = 50 * time.Millisecond
	_, _, err := child.Run(t.Context(), c)
	if !errors.Is(err, child.ErrTimeout) || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("error %v", err)
	}
}

// A child that has printed all that is wanted is ended; one that has not runs into its time limit.
func TestEnough(t *testing.T) {
	c := command("lingerer")
	c.Patience = 10 * time.Millisecond
	c.Enough = func(out []byte) bool { return string(out) == "all\n" }
	if out, _, err := child.Run(t.Context(), c); err != nil || string(out) != "all\n" {
		t.Errorf("got %q, %v", out, err)
	}
	c.Timeout = 200 * time.Millisecond
	c.Enough = func(out []byte) bool { return len(out) > 100 }
	if _, _, err := child.Run(t.Context(), c); !errors.Is(err, child.ErrTimeout) {
		t.Errorf("error %v", err)
	}
	c = command("fail")
	c.Enough, c.Patience = func([]byte) bool { return true }, time.Minute
	if _, _, err := child.Run(t.Context(), c); err == nil {
		t.Error("a child that fails by itself: no error")
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, _, err := child.Run(ctx, command("echo", "a")); !errors.Is(err, context.Canceled) || len(out) > 0 {
		t.Errorf("got %q, %v", out, err)
	}
}

// The end of the pipe's data is the proof that no process holds it any more.
func TestCancelEndsGrandchildren(t *testing.T) {
	pipe, path := namedPipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, _, err := child.Run(ctx, command("parent", path))
		ended <- err
	}()
	lines := bufio.NewReader(pipe())
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if rest, err := lines.ReadString('\n'); err == nil {
		t.Errorf("a grandchild wrote %q", rest)
	}
}

func namedPipe(t *testing.T) (open func() *os.File, path string) {
	t.Helper()
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("mkfifo is not installed")
	}
	path = filepath.Join(t.TempDir(), "alive")
	if err := exec.Command(mkfifo, path).Run(); err != nil {
		t.Skipf("no named pipe can be made here: %v", err)
	}
	return func() *os.File {
		pipe, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pipe.Close() })
		return pipe
	}, path
}
