//go:build !linux

package child

import (
	"os"
	"os/exec"
)

// EndSignals are the signals that ask a program like this one to end.
var EndSignals = []os.Signal{os.Interrupt}

func isolate(*exec.Cmd) {}

func askToEnd(leader *os.Process) error { return leader.Kill() }

func killGroup(int) {}
