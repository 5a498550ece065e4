//go:build linux

package processes_test

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refuseCall makes a system call fail with EPERM in all threads of this process,
// for ever.
func refuseCall(number uint32) error {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		ifEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer  = unix.BPF_RET | unix.BPF_K
	)
	program := []unix.SockFilter{
		{Code: load, K: 0}, // the number is the first word of what the filter sees
		{Code: ifEqual, K: number, Jt: 0, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
