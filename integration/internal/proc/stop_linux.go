package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Stop stops the child, and returns when none of its threads runs any more, which the signal alone does not wait for.
// Signal with SIGCONT lets it go on.
func (p *Process) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGSTOP)
	p.untilStopped()
}

// untilStopped waits until none of the child's threads runs.
func (p *Process) untilStopped() {
	p.t.Helper()
	var info unix.Siginfo
	var err error = unix.EINTR
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, p.PID(), &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
	}
	if err != nil || info.Code != cldStopped {
		p.t.Fatalf("%s: did not stop: code %d, error %v", p.role, info.Code, err)
	}
}

const cldStopped = 5 // CLD_STOPPED of <asm-generic/siginfo.h>

// StopThreads stops a process that need not be a child, and returns when none of its threads runs any more.
func StopThreads(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		running := err != nil || len(tasks) == 0
		for _, task := range tasks {
			stat, err := os.ReadFile(task)
			running = running || err == nil && !bytes.Contains(stat, []byte(") T "))
		}
		if !running {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d did not stop", pid)
		}
	}
}

// StopSelf stops this process, and returns when somebody has let it go on. A signal to the whole process would not do: any
// thread may take it, and until one does, which on a busy machine is a while, the others go on.
func StopSelf() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return unix.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSTOP)
}
