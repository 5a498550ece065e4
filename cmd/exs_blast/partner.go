package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"gomx/bench/pingpong"
)

// partnerVariable makes a process of this program the server of another one. It
// holds the cores to be bound to, as JSON.
const partnerVariable = "GOMX_BLAST_PARTNER"

// grace is how long the partner may take to end by itself.
const grace = 3 * time.Second

// partner is the second process.
type partner struct {
	cmd   *exec.Cmd
	stdin io.Closer // its end ends the partner, however ours comes
	said  bytes.Buffer
	port  string
}

// startPartner starts the program a second time, as a server on this host.
func startPartner(cores []int) (*partner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a second process: %w", err)
	}
	config, err := json.Marshal(cores)
	if err != nil {
		return nil, err
	}
	p := &partner{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), partnerVariable+"="+string(config))
	p.cmd.Stderr = &p.said
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a second process: %w", err)
	}
	if p.port, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		p.end()
		return nil, fmt.Errorf("the second process does not say where it is: %w\n    %s", err, strings.TrimSpace(p.said.String()))
	}
	p.port = strings.TrimSpace(p.port)
	return p, nil
}

// end ends the partner, and waits until it has ended.
func (p *partner) end() {
	_ = p.stdin.Close()
	defer time.AfterFunc(grace, func() { _ = p.cmd.Process.Kill() }).Stop()
	_ = p.cmd.Wait()
}

// isPartner reports whether this process is the second one.
func isPartner() bool { return os.Getenv(partnerVariable) != "" }

// runPartner is the second process. It ends when the first one has gone.
func runPartner() error {
	signal.Ignore(os.Interrupt) // typed at a terminal it is for the first process
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	var cores []int
	if err := json.Unmarshal([]byte(os.Getenv(partnerVariable)), &cores); err != nil {
		return fmt.Errorf("%s: %w", partnerVariable, err)
	}
	if err := pinTo(cores, 1); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	fmt.Println(port)
	return serve(context.Background(), l, os.Stderr)
}

// pinTo binds the process to the core of one side.
func pinTo(cores []int, side int) error {
	if len(cores) <= side {
		return nil
	}
	return pingpong.PinProcess(cores[side])
}
