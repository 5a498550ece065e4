// Package partner starts a program a second time, as the other side of what it measures or tries. The two end together.
package partner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// grace is how long the second process may take to end by itself.
const grace = 3 * time.Second

// Process is the second process, as the first one sees it.
type Process struct {
	cmd   *exec.Cmd
	stdin io.Closer // its end ends the second process, however the first one ends
	out   *bufio.Reader
	said  bytes.Buffer // on standard error; to be read when it has ended

	ended chan struct{} // closed when it has
	err   error         // why, then
}

// Start starts the program of this process once more. The environment variable, which makes it a second process, holds config as JSON. If the
// second process ends with an error, lost is called with that, unless it is nil.
func Start(variable string, config any, lost func(error)) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a second process: %w", err)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(self), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), variable+"="+string(text))
	p.cmd.Stderr = &p.said
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, into, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout = into
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a second process: %w", errors.Join(err, into.Close(), out.Close()))
	}
	_ = into.Close()
	go func() {
		defer close(p.ended)
		defer out.Close()
		if err := p.cmd.Wait(); err != nil {
			p.err = fmt.Errorf("the second process ended: %w%s", err, indented(p.said.String()))
			if lost != nil {
				lost(p.err)
			}
		}
	}()
	return p, nil
}

func indented(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return "\n    " + strings.ReplaceAll(text, "\n", "\n    ")
}

// Address returns the line in which the second process says where it is. If it says nothing, it is ended.
func (p *Process) Address() (string, error) {
	line, err := p.out.ReadString('\n')
	if err == nil {
		return strings.TrimSpace(line), nil
	}
	p.End()
	if p.err != nil {
		return "", p.err
	}
	return "", fmt.Errorf("the second process does not say where it is: %w", err)
}

// Kill ends the second process at once.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// Wait waits for the end of the second process, which must come by itself soon, and returns its error.
func (p *Process) Wait() error {
	defer time.AfterFunc(grace, p.Kill).Stop()
	<-p.ended
	return p.err
}

// End ends the second process if it has not ended, and returns what it has written to standard error.
func (p *Process) End() string {
	_ = p.stdin.Close()
	_ = p.Wait()
	return strings.TrimSpace(p.said.String())
}

// Is reports whether this process is the second one.
func Is(variable string) bool { return os.Getenv(variable) != "" }

// Begin is what the second process does first. It reads the config. From then on this process ends when the first one has ended, or ends
// it, and not by the keys that interrupt the first one.
func Begin(variable string, config any) error {
	if err := json.Unmarshal([]byte(os.Getenv(variable)), config); err != nil {
		return fmt.Errorf("%s is set by the program itself, when it starts a second process: unset it: %w", variable, err)
	}
	signal.Ignore(os.Interrupt) // typed at a terminal it is for the first process
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	return nil
}
