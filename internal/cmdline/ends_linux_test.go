package cmdline

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
)

// TestEndSignals has a program that nohup started outlive its terminal.
func TestEndSignals(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("it is ignored here")
	}
	if !slices.Contains(EndSignals(), os.Signal(syscall.SIGHUP)) {
		t.Errorf("%v lack SIGHUP", EndSignals())
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if slices.Contains(EndSignals(), os.Signal(syscall.SIGHUP)) || !slices.Contains(EndSignals(), os.Signal(syscall.SIGTERM)) {
		t.Errorf("where SIGHUP is ignored: %v", EndSignals())
	}
}
