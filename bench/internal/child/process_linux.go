package child

import (
	"os"
	"os/exec"
	"syscall"
)

// EndSignals are the signals that ask a program like this one to end.
var EndSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func askToEnd(leader *os.Process) error {
	return syscall.Kill(-leader.Pid, syscall.SIGTERM)
}

// killGroup ends whatever a child left behind. It is called as soon as the
// leader is gone, while a group that still has members keeps its number taken.
func killGroup(group int) {
	_ = syscall.Kill(-group, syscall.SIGKILL)
}
