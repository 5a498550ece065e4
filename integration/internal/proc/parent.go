package proc

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience bounds the wait for a line of a child's. While a network is down, Soft-RoCE may hold the processors of
// an emulated machine for half a minute.
const Patience = 100 * time.Second

// Process is a child, as its parent has it.
type Process struct {
	t     testing.TB
	role  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	reap  func() error
}

// Options change how a child is started.
type Options struct {
	Env   []string             // more environment
	Attr  *syscall.SysProcAttr // credentials, namespaces
	Under []string             // a program that runs the child, with its arguments
	Copy  string               // a directory to run a copy of the binary from
	Life  time.Duration        // after which the child ends; 0: two minutes
}

// Start starts a child in a role. It is killed at the end of the test.
func Start(t testing.TB, role string, args ...any) *Process {
	t.Helper()
	return StartWith(t, Options{}, role, args...)
}

// StartWith is Start with options.
func StartWith(t testing.TB, o Options, role string, args ...any) *Process {
	t.Helper()
	p, err := TryStart(t, o, role, args...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TryStart is StartWith for machines that may not allow what the options ask.
func TryStart(t testing.TB, o Options, role string, args ...any) (*Process, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if o.Copy != "" {
		if self, err = copyTo(o.Copy, self); err != nil {
			return nil, err
		}
	}
	line := append(append([]string(nil), o.Under...), self)
	p := &Process{t: t, role: role, lines: make(chan string, 64)}
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Env = append(os.Environ(), roleKey+"="+role, argsKey+"="+strings.TrimSpace(fmt.Sprintln(args...)))
	p.cmd.Env = append(p.cmd.Env, lifeKey+"="+cmp.Or(o.Life, usualLife).String())
	p.cmd.Env = append(p.cmd.Env, o.Env...)
	p.cmd.SysProcAttr = o.Attr
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting role %s: %w", role, err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	p.reap = sync.OnceValue(func() error {
		for line := range p.lines { // so that the reader comes to its end
			if strings.HasPrefix(line, failed) || t.Failed() {
				t.Logf("%s, to which nobody listened: %s", role, line)
			}
		}
		<-read
		return p.cmd.Wait()
	})
	t.Cleanup(p.Kill)
	return p, nil
}

// copyTo copies a program to where other users can read it.
func copyTo(dir, self string) (string, error) {
	b, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "child")
	return name, os.WriteFile(name, b, 0o755)
}

// PID returns the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Say sends the child a line.
func (p *Process) Say(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatalf("%s: %v", p.role, err)
	}
}

// Hear waits for a line, which must begin with want, and returns the rest.
func (p *Process) Hear(want string) string {
	p.t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	select {
	case s, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("%s: ended without saying %q", p.role, want)
		}
		rest, ok := strings.CutPrefix(s, want)
		if !ok {
			p.t.Fatalf("%s: says %q, not %q", p.role, s, want)
		}
		return strings.TrimSpace(rest)
	case <-limit.C:
		p.t.Fatalf("%s: silent, though it should say %q", p.role, want)
	}
	return ""
}

// HearNumber is Hear for a line that goes on with a number.
func (p *Process) HearNumber(want string) (n uint32) {
	p.t.Helper()
	if _, err := fmt.Sscan(p.Hear(want), &n); err != nil {
		p.t.Fatal(p.role, err)
	}
	return n
}

// Signal sends the child a signal.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the child at once, if it has not ended, and collects it.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	_ = p.Wait()
}

// Wait closes the child's input and waits for its end.
func (p *Process) Wait() error {
	_ = p.in.Close()
	return p.reap()
}
