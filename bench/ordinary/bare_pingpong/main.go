//go:build linux

// Command bare_pingpong sends a message to and fro between two threads of one process with nothing on top of the medium: what it
// takes is what the medium gives, and no library can do better.
//
// In shared memory a message is a word that one thread changes and the other one looks at again and again, and the receiver copies the
// bytes once, from the sender's memory into its own. Over TCP it is one connection over the loopback interface, whose two
// ends are read and written without ever waiting in the kernel.
package main

import (
	"errors"
	"flag"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"gomx/bench/internal/figure"
)

// end is one side of the medium.
type end interface {
	send(b []byte) error
	recv(b []byte) error
}

func main() {
	length := flag.Int("length", 8, "of a message, `bytes`")
	count := flag.Int("count", 100_000, "round trips")
	over := flag.String("over", "shm", "`medium`: shm or tcp")
	free := flag.Bool("free", false, "bind no thread to a core")
	flag.Parse()
	figure.Fail(run(*over, *length, *count, !*free))
}

func run(over string, length, count int, bound bool) error {
	var here, there end
	switch over {
	case "shm":
		here, there = lines()
	case "tcp":
		var err error
		if here, there, err = sockets(); err != nil {
			return err
		}
		length = max(1, length) // a stream has no empty messages
	default:
		return fmt.Errorf("-over %s: want shm or tcp", over)
	}
	failed := make(chan error, 1)
	warm := count/10 + 1
	go func() { failed <- answer(there, length, warm+count, bound) }()
	if err := bind(0, bound); err != nil {
		return err
	}
	buf := make([]byte, length)
	if err := ask(here, buf, 0, warm); err != nil {
		return err
	}
	m := figure.Begin()
	if err := ask(here, buf, warm, warm+count); err != nil {
		return err
	}
	m.Each(2 * count)
	return <-failed
}

func ask(e end, buf []byte, from, to int) error {
	for i := from; i < to; i++ {
		put(buf, i)
		if err := e.send(buf); err != nil {
			return err
		}
		if err := e.recv(buf); err != nil {
			return err
		}
		if !has(buf, i+1) {
			return errors.New("received another message than was sent")
		}
	}
	return nil
}

func answer(e end, length, count int, bound bool) error {
	if err := bind(1, bound); err != nil {
		return err
	}
	buf := make([]byte, length)
	for i := range count {
		if err := e.recv(buf); err != nil {
			return err
		}
		if !has(buf, i) {
			return errors.New("received another message than was sent")
		}
		put(buf, i+1)
		if err := e.send(buf); err != nil {
			return err
		}
	}
	return nil
}

// put marks a message with a number in its first byte and its last one, has looks at them.
func put(b []byte, n int) {
	if len(b) > 0 {
		b[0], b[len(b)-1] = byte(n), byte(n)
	}
}

func has(b []byte, n int) bool {
	return len(b) == 0 || b[0] == byte(n) && b[len(b)-1] == byte(n)
}

// bind has the goroutine keep its thread, and binds that to a core.
func bind(core int, bound bool) error {
	runtime.LockOSThread()
	if !bound {
		return nil
	}
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("binding to core %d: %w", core, err)
	}
	return nil
}
