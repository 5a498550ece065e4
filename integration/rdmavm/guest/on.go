package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

// commandPort is where a machine takes commands of the other one.
const commandPort = "22"

// patience bounds the wait for the other machine, and for listeners.
const patience = 60 * time.Second

// order begins a conversation.
type order struct {
	Words, Env []string
	Dir        string
}

// part is what follows, in both directions.
type part struct {
	Stream int    // 0, 1 or 2, as a process numbers them
	Bytes  []byte // none: the stream ends
	Ended  bool   // the command has ended, and these are its last words
	Exit   int
	Why    string // it never began
}

func address(host string) string { return net.JoinHostPort("10.79.0."+host, commandPort) }

// on runs a command on another machine and returns its exit status. 255 means that
// there was none.
func on(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: on host command args...")
		return 255
	}
	exit, err := talk(args[0], args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "on:", err)
		return 255
	}
	return exit
}

func talk(host string, words []string) (int, error) {
	c, err := net.Dial("tcp", address(host))
	if err != nil {
		return 0, err
	}
	defer c.Close()
	say, hear := gob.NewEncoder(c), gob.NewDecoder(c)
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	if err := say.Encode(order{Words: words, Env: os.Environ(), Dir: dir}); err != nil {
		return 0, err
	}
	go func() { _, _ = io.Copy(&stream{say: say}, os.Stdin); _ = say.Encode(part{}) }()
	for {
		var p part
		if err := hear.Decode(&p); err != nil {
			return 0, fmt.Errorf("host %s: %w", host, err)
		}
		switch {
		case p.Why != "":
			return 0, fmt.Errorf("host %s: %s", host, p.Why)
		case p.Ended:
			return p.Exit, nil
		}
		to := os.Stdout
		if p.Stream == 2 {
			to = os.Stderr
		}
		if _, err := to.Write(p.Bytes); err != nil {
			return 0, err
		}
	}
}

// stream sends what is written to it. Encoders take one value at a time from several
// goroutines.
type stream struct {
	say    *gob.Encoder
	number int
}

func (s *stream) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	return len(b), s.say.Encode(part{Stream: s.number, Bytes: b})
}

// listenForCommands returns what serves them.
func listenForCommands() (serve func() error, err error) {
	l, err := net.Listen("tcp", ":"+commandPort)
	if err != nil {
		return nil, err
	}
	return func() error {
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			go obey(c)
		}
	}, nil
}

// obey runs one command. It ends with the connection.
func obey(c net.Conn) {
	defer c.Close()
	say, hear := gob.NewEncoder(c), gob.NewDecoder(c)
	var o order
	if err := hear.Decode(&o); err != nil || len(o.Words) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, o.Words[0], o.Words[1:]...)
	cmd.Dir, cmd.Env = o.Dir, append(o.Env, "GOMX_RDMAVM_HOST="+os.Getenv("GOMX_RDMAVM_HOST"))
	cmd.Stdout, cmd.Stderr = &stream{say, 1}, &stream{say, 2}
	cmd.WaitDelay = 2 * time.Second
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = say.Encode(part{Why: err.Error()})
		return
	}
	closed := sync.OnceFunc(func() { _ = in.Close() })
	go func() {
		defer cancel()
		for {
			var p part
			if err := hear.Decode(&p); err != nil {
				return
			}
			if len(p.Bytes) == 0 {
				closed()
			} else {
				_, _ = in.Write(p.Bytes)
			}
		}
	}()
	_ = cmd.Wait()
	_ = say.Encode(part{Ended: true, Exit: cmd.ProcessState.ExitCode()})
}

// awaitHost waits until another machine takes commands.
func awaitHost(host int) error {
	var errs error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", address(fmt.Sprint(host)), time.Second)
		if err == nil {
			return c.Close()
		}
		errs = err
	}
	return errors.Join(errors.New("the other machine does not come up"), errs)
}
