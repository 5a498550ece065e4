package live_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/mx/live"
)

// asNobody returns the test binary as a process of another user.
func asNobody(t *testing.T, role string, env ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := filepath.Join(dir, "reader")
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.WriteFile(binary, text, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(append(os.Environ(), "LIVE_TEST_ROLE="+role), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// foreign starts a process of another user that listens, and waits until it does.
func foreign(t *testing.T, role string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := asNobody(t, role, env...)
	if err := started(t, cmd, "listens\n"); err != nil {
		t.Skipf("this system runs nothing as another user: %v", err)
	}
	return cmd
}

// beForeign listens under the names that LIVE_TEST_NAMES has, or under its own, until its standard input ends. As "amplify" it answers with many
// empty endpoints, as "squat" with nothing.
func beForeign(role string) {
	own := fmt.Sprintf("%d/%d", os.Geteuid(), os.Getpid())
	for name := range strings.SplitSeq(os.Getenv("LIVE_TEST_NAMES"), ",") {
		if name == "" {
			name = own
		}
		l, err := net.Listen("unix", "@gomx-live/"+name+"/0123456789abcdef")
		if err != nil {
			fmt.Println(err)
			return
		}
		if role == "amplify" {
			go amplify(l)
		}
	}
	fmt.Println("listens")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func amplify(l net.Listener) {
	answer := `{"pid":1,"command":"x","endpoints":[` + strings.Repeat("{},", 1<<18) + "{}]}"
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, answer)
		c.Close()
	}
}

// about reports whether one of the errors is about a process.
func about(errs []error, pid int) bool {
	return slices.ContainsFunc(errs, func(err error) bool { return strings.Contains(err.Error(), fmt.Sprintf("process %d:", pid)) })
}

// TestForeignAnswerIsBounded: a small answer of another user's process that becomes large values is not made values.
func TestForeignAnswerIsBounded(t *testing.T) {
	t.Parallel()
	own, cmd := process(t), foreign(t, "amplify")
	if _, err := live.Read(cmd.Process.Pid); !errors.Is(err, live.ErrTooLarge) {
		t.Errorf("read: %v", err)
	}
	readings, failed, err := live.All()
	if err != nil || !about(failed, cmd.Process.Pid) {
		t.Errorf("all: %v, %v", failed, err)
	}
	found := false
	for _, r := range readings {
		if r.PID == own.Process.Pid {
			found = r.User == os.Geteuid()
		}
		if len(r.Endpoints) > 1<<12 {
			t.Errorf("process %d has %d endpoints", r.PID, len(r.Endpoints))
		}
	}
	if !found {
		t.Error("the process of the own user is not read")
	}
}

// TestNamesThatOthersTake stall nobody, and nobody is blamed for them.
func TestNamesThatOthersTake(t *testing.T) {
	t.Parallel()
	own := process(t)
	names := []string{fmt.Sprintf("0/%d", own.Process.Pid)}
	for pid := 1; pid <= 40; pid++ {
		names = append(names, fmt.Sprintf("0/%d", pid))
	}
	cmd := foreign(t, "squat", "LIVE_TEST_NAMES="+strings.Join(names, ","))
	readings, failed, err := live.All()
	if err != nil || about(failed, 1) || about(failed, own.Process.Pid) {
		t.Errorf("%v, %v", failed, err)
	}
	found := 0
	for _, r := range readings {
		if r.PID == own.Process.Pid {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the process of the own user is read %d times", found)
	}
	want := fmt.Sprintf("by process %d of user 65534", cmd.Process.Pid)
	if _, err := live.Read(1); !errors.Is(err, live.ErrTaken) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, and not %q", err, want)
	}
	if _, err := live.Read(own.Process.Pid); err != nil {
		t.Error(err)
	}
}

// TestFullSocketOfAnother takes the name of a process, and no connections.
func TestFullSocketOfAnother(t *testing.T) {
	own := process(t)
	name := fmt.Sprintf("@gomx-live/%d/%d/0", os.Geteuid(), own.Process.Pid)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if c, err := net.DialTimeout("unix", name, time.Second); err == nil {
			defer c.Close()
		}
	}
	w := &live.Watcher{PIDs: []int{own.Process.Pid}}
	readings, silent, err := w.Read(false)
	if err != nil || len(readings) != 1 || len(silent) != 0 {
		t.Errorf("%d readings, %v, %v", len(readings), silent, err)
	}
}
