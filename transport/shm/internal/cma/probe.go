//go:build linux

package cma

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"gomx/transport/wire"
)

// ErrWrongProcess means that memory could be read, but is not the peer's.
var ErrWrongProcess = errors.New("the process number means another process here (other pid namespace?)")

// Probe finds out whether this process can read the memory of process pid: it
// reads the peer's nonce at addr and compares it with want, which came from the
// peer itself. The error names the cause as far as it can be known, and wraps
// the errno. For setting up a link; it looks into /proc when refused.
func Probe(pid int, addr uint64, want [16]byte) error {
	if pid <= 0 {
		return fmt.Errorf("single copy: %w", errNoNumber)
	}
	got, err := readNonce(pid, addr)
	switch {
	case err == nil && got == want:
		return nil
	case err == nil, errors.Is(err, unix.EFAULT):
		return fmt.Errorf("single copy from process %d: %w", pid, ErrWrongProcess)
	}
	return fmt.Errorf("single copy from process %d: %s: %w", pid, cause(pid, err), err)
}

func readNonce(pid int, addr uint64) (got [16]byte, err error) {
	var s Scratch
	into := make([]byte, len(got))
	_, err = s.Read(pid, &wire.Vec{First: into}, []Remote{{Addr: addr, Len: uint32(len(got))}}, len(got))
	if err != nil {
		var errno syscall.Errno
		if errors.As(err, &errno) {
			err = os.NewSyscallError(reading.String(), errno)
		}
		return got, err
	}
	return [16]byte(into), nil
}

func cause(pid int, err error) string {
	switch {
	case errors.Is(err, unix.ESRCH):
		return "no such process here (it ended, or lives in another pid namespace)"
	case errors.Is(err, unix.ENOSYS):
		return "the system lacks the call (a kernel without it, or a seccomp filter)"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return refusal(pid)
	}
	return "failed"
}

// refusal finds out who refused. The order is from the most certain cause to the
// least.
func refusal(pid int) string {
	addr, _ := Nonce()
	if _, err := readNonce(os.Getpid(), addr); err != nil {
		return "a seccomp filter forbids the call"
	}
	if uid, ok := realUser(pid); ok && uid != os.Getuid() {
		return fmt.Sprintf("it runs as user %d, this one as %d", uid, os.Getuid())
	}
	ours, err1 := os.Readlink("/proc/self/ns/user")
	theirs, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", pid))
	if err1 == nil && err2 == nil && ours != theirs {
		return "it lives in another user namespace"
	}
	if scope, ok := ptraceScope(); ok && scope > 0 {
		return fmt.Sprintf("/proc/sys/kernel/yama/ptrace_scope is %d%s", scope, scopeMeaning(scope))
	}
	return "it has other privileges, another user namespace, or forbids being read (not dumpable)"
}

const scopeRestricted = 1

func scopeMeaning(scope int) string {
	if scope == scopeRestricted {
		return " and it has not allowed us"
	}
	return ", which only an administrator can work with"
}

// ptraceScope returns the setting of the Yama module; not ok without the module.
func ptraceScope() (scope int, ok bool) {
	text, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err != nil {
		return 0, false
	}
	scope, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return scope, err == nil
}

// realUser returns the user id under which a process runs.
func realUser(pid int) (uid int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, line, found := strings.Cut(string(text), "\nUid:")
	if !found {
		return 0, false
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return 0, false
	}
	uid, err = strconv.Atoi(fields[0])
	return uid, err == nil
}
