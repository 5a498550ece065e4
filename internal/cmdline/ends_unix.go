//go:build unix

package cmdline

import (
	"os"
	"os/signal"
	"syscall"
)

// EndSignals are the signals that ask a program to end, for os/signal: those of a program that has to leave something as it was. SIGHUP is not among
// them if it was ignored when the program started, as nohup has it.
func EndSignals() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}
