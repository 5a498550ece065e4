package live_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
	"gomx/mx/live"
)

// The test binary is also the processes that are read, and those that read as somebody else.
func TestMain(m *testing.M) {
	switch role := os.Getenv("LIVE_TEST_ROLE"); role {
	case "":
		os.Exit(m.Run())
	case "endpoint":
		beRead()
	case "amplify", "squat":
		beForeign(role)
	default: // a process number
		pid, _ := strconv.Atoi(role)
		_, err := live.Read(pid)
		fmt.Println(err)
	}
}

// beRead opens an endpoint, says so, and ends with its standard input.
func beRead() {
	err := mx.Init()
	if err == nil {
		_, err = mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7)
	}
	fmt.Println(err)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// process starts a process with an endpoint.
func process(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), "LIVE_TEST_ROLE=endpoint"), env...)
	cmd.Stderr = os.Stderr
	t.Cleanup(cancel) // after the cleanup of started
	if err := started(t, cmd, "<nil>\n"); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// started starts a process of the test and waits until it has printed a line, which must be says. When the test is over the
// process is continued, in case it was stopped, and its standard input ends, which ends it. The error is that of the start.
func started(t *testing.T, cmd *exec.Cmd, says string) error {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != says {
		t.Fatal(line, err)
	}
	return nil
}

func TestRead(t *testing.T) {
	cmd := process(t)
	r, err := live.Read(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if r.PID != cmd.Process.Pid || r.Command != filepath.Base(os.Args[0]) || len(r.Endpoints) != 1 || len(r.Endpoints[0].Counters) == 0 {
		t.Errorf("%+v", r)
	}
	all, failed, err := live.All()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, other := range all {
		found = found || other.PID == cmd.Process.Pid
	}
	if !found {
		t.Errorf("process %d is not among %d, failed: %v", cmd.Process.Pid, len(all), failed)
	}
}

// TestClear notes the counters, which go on.
func TestClear(t *testing.T) {
	cmd := process(t)
	first, err := live.Clear(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Cleared) != 0 {
		t.Errorf("cleared before: %v", first.Cleared)
	}
	second, err := live.Read(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	name := second.Endpoints[0].Name
	if c := second.Cleared[name]; len(c.Values) != len(second.Endpoints[0].Counters) || !c.At.Equal(first.Taken) {
		t.Errorf("%+v", c)
	}
}

func TestProcessesThatCannotBeRead(t *testing.T) {
	none := exec.CommandContext(t.Context(), "true")
	if err := none.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Read(none.Process.Pid); !errors.Is(err, live.ErrNoProcess) {
		t.Errorf("of a process that has ended: %v", err)
	}
	if _, err := live.Read(os.Getpid()); !errors.Is(err, live.ErrNotServing) {
		t.Errorf("of a process without endpoints: %v", err)
	}
	silent := process(t, "MX_LIVE=0")
	if _, err := live.Read(silent.Process.Pid); !errors.Is(err, live.ErrNotServing) {
		t.Errorf("of a process that does not want it: %v", err)
	}
}

// TestStoppedProcess does not keep whoever reads it, and goes on as if nothing had been.
func TestStoppedProcess(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	cmd := process(t)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !stopped(t, cmd.Process.Pid) {
		runtime.Gosched()
	}
	if _, err := live.Read(cmd.Process.Pid); !errors.Is(err, live.ErrNoAnswer) {
		t.Errorf("%v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Read(cmd.Process.Pid); err != nil {
		t.Errorf("after it goes on: %v", err)
	}
}

// stopped reports whether all threads of a process stand still.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	states, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(states) == 0 {
		t.Fatal(err)
	}
	for _, name := range states {
		text, err := os.ReadFile(name)
		if err != nil {
			return false // a thread that has just ended
		}
		if _, rest, ok := strings.Cut(string(text), ") "); !ok || rest[0] != 'T' {
			return false
		}
	}
	return true
}

// TestOtherUser is hung up on, and reads nothing.
func TestOtherUser(t *testing.T) {
	cmd := process(t)
	reader := asNobody(t, strconv.Itoa(cmd.Process.Pid))
	out, err := reader.CombinedOutput()
	if err != nil {
		t.Skipf("this system runs nothing as another user: %v %s", err, out)
	}
	if !strings.Contains(string(out), live.ErrOtherUser.Error()) {
		t.Errorf("another user gets: %s", out)
	}
	if _, err := live.Read(cmd.Process.Pid); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestManyReaders who come at the same moment all get an answer.
func TestManyReaders(t *testing.T) {
	cmd := process(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := live.Read(cmd.Process.Pid); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestClientsThatSayNothing take up the places there are, for a second; those who come meanwhile are hung up on, soon.
func TestClientsThatSayNothing(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	cmd := process(t)
	name := socketOf(t, cmd.Process.Pid)
	for range 16 {
		c, err := net.Dial("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		_, err := live.Read(cmd.Process.Pid)
		if err == nil {
			return
		}
		if !errors.Is(err, live.ErrVanished) && !errors.Is(err, live.ErrNoAnswer) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// socketOf returns the name of a process's socket.
func socketOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if i := strings.Index(line, "@gomx-live/"); i >= 0 && strings.Contains(line[i:], "/"+strconv.Itoa(pid)+"/") {
			return strings.TrimSpace(line[i:])
		}
	}
	t.Fatalf("process %d has no socket", pid)
	return ""
}
