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
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // below nohup it is ignored
	defer signal.Stop(heard)
	if !slices.Contains(EndSignals(), os.Signal(syscall.SIGHUP)) {
		t.Errorf("%v lack SIGHUP", EndSignals())
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if slices.Contains(EndSignals(), os.Signal(syscall.SIGHUP)) || !slices.Contains(EndSignals(), os.Signal(syscall.SIGTERM)) {
		t.Errorf("where SIGHUP is ignored: %v", EndSignals())
	}
}
