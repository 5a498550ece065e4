package proc

import (
	"bufio"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// ProgramRole is the role under which a test binary knows RunProgram, for StartProgram.
const ProgramRole = "program"

// RunProgram is a Role: it runs a program, which ends with it, and passes on what it prints. Its
// arguments are the program and those of its own.
func RunProgram(c *Child) {
	runtime.LockOSThread() // the program is killed when the thread that started it ends
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.Fail(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		c.Fail(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		c.Say("> %s", lines.Text())
	}
	_ = cmd.Wait()
	c.Say("status %d", cmd.ProcessState.ExitCode())
}

// Program is a program that RunProgram runs.
type Program struct {
	*Process
}

// StartProgram starts a program, whose words hold no blanks. It ends with the test.
func StartProgram(t testing.TB, o Options, command ...string) Program {
	t.Helper()
	return Program{StartWith(t, o, ProgramRole, strings.Join(command, " "))}
}

// Says waits for a line that contains a text.
func (p Program) Says(text string) {
	p.t.Helper()
	if line := p.Hear("> "); !strings.Contains(line, text) {
		p.t.Fatalf("the program says %q, nothing about %q", line, text)
	}
}

// Ends waits for the program's end, and returns what it has printed since Says and its exit status.
func (p Program) Ends() (lines []string, status int) {
	p.t.Helper()
	for {
		line := p.Hear("")
		if printed, ok := strings.CutPrefix(line, ">"); ok { // of an empty line nothing else is left
			lines = append(lines, strings.TrimPrefix(printed, " "))
			continue
		}
		if _, err := fmt.Sscanf(line, "status %d", &status); err != nil {
			p.t.Fatalf("%q: %v", line, err)
		}
		return lines, status
	}
}
