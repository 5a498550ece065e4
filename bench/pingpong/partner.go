package pingpong

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"gomx/mx"
)

// partnerVariable makes a process of this program the second one. It holds that
// process's Setup.
const partnerVariable = "GOMX_PINGPONG_PARTNER"

// grace is how long the partner may take to end by itself.
const grace = 3 * time.Second

// partner is the second process.
type partner struct {
	cmd   *exec.Cmd
	stdin io.Closer // its end ends the partner, however ours comes
	out   *bufio.Reader
	said  bytes.Buffer // its complaints; to be read when it has ended

	ended chan struct{} // closed when it has
	err   error         // why, then
}

// startPartner starts the program a second time. When the partner ends before
// its time, it calls lost.
func startPartner(at Setup, lost func(error)) (*partner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a second process: %w", err)
	}
	config, err := json.Marshal(at)
	if err != nil {
		return nil, err
	}
	p := &partner{cmd: exec.Command(self), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), partnerVariable+"="+string(config))
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
		if p.err = p.cmd.Wait(); p.err != nil {
			p.err = fmt.Errorf("the second process ended: %w%s", p.err, indented(p.said.String()))
			lost(p.err)
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

// address reads where the partner's endpoint is.
func (p *partner) address() (nic uint64, endpoint uint32, err error) {
	if _, err = fmt.Fscanf(p.out, "%x %d\n", &nic, &endpoint); err != nil {
		p.end()
		if p.err != nil {
			return 0, 0, p.err
		}
		return 0, 0, fmt.Errorf("the second process does not say where it is: %w", err)
	}
	return nic, endpoint, nil
}

func (p *partner) kill() { _ = p.cmd.Process.Kill() }

// wait waits for the partner's end, which must come of itself soon.
func (p *partner) wait() error {
	defer time.AfterFunc(grace, p.kill).Stop()
	<-p.ended
	return p.err
}

// end ends the partner if it has not ended, and waits until it has.
func (p *partner) end() {
	_ = p.stdin.Close()
	_ = p.wait()
}

func runWithPartner(ctx context.Context, at Setup, plan *Plan, w Watcher) error {
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	if err := at.pinTo(0); err != nil {
		return err
	}
	other := at
	other.Endpoint = at.RemoteEndpoint
	p, err := startPartner(other, lost)
	if err != nil {
		return err
	}
	defer p.end()
	defer context.AfterFunc(ctx, p.kill)()
	return onEndpoint(ctx, at, func(ep *mx.Endpoint) error {
		nic, id, err := p.address()
		if err != nil {
			return err
		}
		if err := leadTo(ctx, ep, nic, id, at, plan, w); err != nil {
			return err
		}
		return p.wait()
	})
}

// IsPartner reports whether this process was started by Run as the second one.
// It must then call RunPartner and do nothing else.
func IsPartner() bool { return os.Getenv(partnerVariable) != "" }

// RunPartner is the second process. It ends the process when the first one has
// gone.
func RunPartner() (err error) {
	signal.Ignore(os.Interrupt) // typed at a terminal it is for the first process
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	var at Setup
	if err := json.Unmarshal([]byte(os.Getenv(partnerVariable)), &at); err != nil {
		return fmt.Errorf("%s: %w", partnerVariable, err)
	}
	if err := at.pinTo(1); err != nil {
		return err
	}
	done, err := initialize()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	ctx := context.Background()
	return onEndpoint(ctx, at, func(ep *mx.Endpoint) error {
		nic, id, err := mx.DecomposeEndpointAddr(ep.Addr())
		if err != nil {
			return err
		}
		fmt.Printf("%x %d\n", nic, id)
		_, _, err = follow(ctx, ep, at.Filter)
		if errors.Is(err, ErrCorrupt) {
			return nil // the first process knows, and says so
		}
		return err
	})
}
