//go:build linux

package netns_test

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
)

// build builds programs of the house, and returns the folder with their files.
func build(t testing.TB, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	command := []string{"build", "-o", dir}
	for _, name := range names {
		command = append(command, "gomx/"+name)
	}
	out, err := exec.Command("go", command...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the go command to build the programs: ", err)
	}
	if err != nil {
		t.Fatalf("building %v: %v: %s", names, err, out)
	}
	return dir
}

// run runs a program, which ends with it, and passes on what it prints. Arguments:
// the program and its own.
func run(c *proc.Child) {
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

// program is a program that runs on a host.
type program struct {
	*proc.Process
	t testing.TB
}

func runOn(t testing.TB, h *netns.Host, env []string, command ...string) program {
	t.Helper()
	return program{proc.StartWith(t, on(h, env...), "run", strings.Join(command, " ")), t}
}

// says waits for a line that contains a text.
func (p program) says(text string) {
	p.t.Helper()
	if line := p.Hear("> "); !strings.Contains(line, text) {
		p.t.Fatalf("the program says %q, nothing about %q", line, text)
	}
}

// ends waits for the program's end, and returns what it has printed since says
// and its exit status.
func (p program) ends() (lines []string, status int) {
	p.t.Helper()
	for {
		line := p.Hear("")
		if printed, ok := strings.CutPrefix(line, "> "); ok {
			lines = append(lines, printed)
			continue
		}
		if _, err := fmt.Sscanf(line, "status %d", &status); err != nil {
			p.t.Fatalf("%q: %v", line, err)
		}
		return lines, status
	}
}
