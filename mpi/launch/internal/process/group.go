package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalGroup sends a signal to a child and to all that it has started in its group.
func SignalGroup(pid int, s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = unix.Kill(-pid, number)
	}
}

// GroupLeft reports whether a group has members, which it may have when its first process is gone.
func GroupLeft(pid int) bool { return unix.Kill(-pid, 0) != unix.ESRCH }

// Signals are those that a launcher passes on: all that somebody may want to send to a program.
func Signals() []os.Signal {
	return append(signalsOfSystem(),
		unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTSTP, unix.SIGCONT,
		unix.SIGALRM, unix.SIGVTALRM, unix.SIGPROF, unix.SIGWINCH, unix.SIGIO, unix.SIGXCPU, unix.SIGXFSZ)
}

// The signals that a launcher does more about than pass them on.
const (
	Terminate = unix.SIGTERM
	Kill      = unix.SIGKILL
	Stop      = unix.SIGTSTP
)

// StopSelf stops this process, as its default does where nobody listens for Stop.
func StopSelf() { _ = unix.Kill(os.Getpid(), unix.SIGSTOP) }

// Ends reports whether a signal asks for the end of a program.
func Ends(s os.Signal) bool { return s == unix.SIGINT || s == unix.SIGTERM || s == unix.SIGHUP }

// KilledBy returns the signal that has ended a process.
func KilledBy(state *os.ProcessState) (s syscall.Signal, killed bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	return status.Signal(), ok && status.Signaled()
}
