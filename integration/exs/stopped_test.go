//go:build linux

package exs_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// sink is a role: a server that reads connections, one after the other, and says what has come.
func sink(c *proc.Child) {
	serve(c, func(conn net.Conn) {
		sum := sha256.New()
		n, err := io.Copy(sum, conn)
		c.Say("got %d bytes %x %v", n, sum.Sum(nil), err)
		_ = conn.Close()
	})
}

// toSink connects to a sink in another process.
func toSink(t *testing.T, medium string) (net.Conn, *proc.Process) {
	t.Helper()
	l := library(t, medium)
	child := start(t, medium, "sink")
	conn, err := l.Dial("exs", child.Hear("listens"))
	if err != nil {
		t.Fatal(err)
	}
	child.Hear("accepted")
	time.Sleep(20 * time.Millisecond) // mostly it then waits for bytes, with memory for them
	return conn, child
}

// within fails a test whose call does not end.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s did not end within %v", what, limit)
	}
}

// soon bounds calls whose deadline is past.
const soon = 8 * time.Second

var writeSizes = []int{100, 16 << 10, 100_000, 3 << 20}

// The deadline of a Write passes while the peer is stopped. The Write ends, what it says was written is what the peer gets
// when it goes on, and its memory is the program's again.
func TestWriteDeadlineTowardsStopped(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range []string{"shm", "tcp"} {
		for _, size := range writeSizes {
			t.Run(fmt.Sprint(medium, "/", size), func(t *testing.T) {
				t.Parallel()
				deadlineTowardsStopped(t, medium, size)
			})
		}
	}
}

func deadlineTowardsStopped(t *testing.T, medium string, size int) {
	conn, child := toSink(t, medium)
	child.Stop()
	want := sha256.New()
	total := 0
	for round := range 8 { // the first ones may fit somewhere
		b := leftBehind(size + round)
		n, err := 0, error(nil)
		_ = conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		within(t, soon, "a Write with a deadline", func() { n, err = conn.Write(b) })
		if n < len(b) && !errors.Is(err, os.ErrDeadlineExceeded) || n == len(b) && err != nil {
			t.Fatalf("%d bytes of %d written, %v", n, len(b), err)
		}
		want.Write(b[:n])
		total += n
		clear(b)
	}
	child.Signal(syscall.SIGCONT)
	last := leftBehind(300_000)
	_ = conn.SetWriteDeadline(time.Now().Add(bound))
	if n, err := conn.Write(last); n != len(last) || err != nil {
		t.Fatalf("afterwards %d bytes, %v", n, err)
	}
	want.Write(last)
	total += len(last)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	child.Hear(fmt.Sprintf("got %d bytes %x <nil>", total, want.Sum(nil)))
}

// A connection is closed while a Write waits for a peer that is stopped: both calls end. When it goes on, the peer gets the beginning
// of what was written.
func TestCloseWritingTowardsStopped(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range []string{"shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			conn, child := toSink(t, medium)
			child.Stop()
			b := leftBehind(20 << 20)
			n, err := 0, error(nil)
			ended := make(chan struct{})
			go func() {
				n, err = conn.Write(b)
				close(ended)
			}()
			time.Sleep(50 * time.Millisecond)
			within(t, soon, "Close", func() { _ = conn.Close() })
			within(t, soon, "the Write", func() { <-ended })
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("Write: %v", err)
			}
			want := sha256.Sum256(b[:n])
			clear(b)
			child.Signal(syscall.SIGCONT)
			child.Hear(fmt.Sprintf("got %d bytes %x <nil>", n, want))
		})
	}
}

// source is a role: a server that writes to one connection until it hears something, and says how much that was.
func source(c *proc.Child) {
	ln, err := ownLibrary(c).Listen("exs", "127.0.0.1:0")
	if err != nil {
		c.Fail(err)
	}
	c.Say("listens %v", ln.Addr())
	conn, err := ln.Accept()
	if err != nil {
		c.Fail(err)
	}
	enough := make(chan string, 1)
	go func() { enough <- c.Hear() }()
	b, at := leftBehind(sourcePeriod), 0
	for len(enough) == 0 {
		if _, err := conn.Write(b); err != nil {
			c.Fail(err)
		}
		at += len(b)
	}
	if err := conn.Close(); err != nil {
		c.Fail(err)
	}
	c.Say("wrote %d", at)
	c.Hear()
}

// sourcePeriod is after how many bytes a source begins anew.
const sourcePeriod = 1<<20 - 1

// The deadline of a Read passes while the peer is stopped in the middle of what it sends. The Read ends, its memory is not written later, and
// no byte is lost.
func TestReadDeadlineTowardsStopped(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range []string{"shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			l := library(t, medium)
			child := start(t, medium, "source")
			conn, err := l.Dial("exs", child.Hear("listens"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			passed := make(chan struct{})
			go func() {
				for i := range 20 {
					time.Sleep(time.Duration(1+i%4) * time.Millisecond)
					child.Signal(syscall.SIGSTOP)
					<-passed
					<-passed // of a Read that began when it was stopped
					child.Signal(syscall.SIGCONT)
				}
				child.Say("enough")
				for range passed {
				}
			}()
			at := readPastDeadlines(t, conn, passed)
			close(passed)
			if want := int(child.HearNumber("wrote")); at != want {
				t.Errorf("%d bytes of %d", at, want)
			}
		})
	}
}

// readPastDeadlines reads a source to the end, each time into the same memory and with a deadline, and tells of those that pass.
func readPastDeadlines(t *testing.T, conn net.Conn, passed chan<- struct{}) (at int) {
	t.Helper()
	b, untouched := make([]byte, 1<<20), make([]byte, 1<<20)
	want := bytes.Repeat(leftBehind(sourcePeriod), 3)
	timeouts := 0
	for {
		n, err := 0, error(nil)
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		within(t, soon, "a Read with a deadline", func() { n, err = conn.Read(b) })
		if !bytes.Equal(b[:n], want[at%sourcePeriod:][:n]) {
			t.Fatalf("%d bytes at %d are not those that were sent", n, at)
		}
		at += n
		switch {
		case err == io.EOF:
			t.Logf("%d bytes, %d deadlines passed", at, timeouts)
			return at
		case err == nil:
			continue
		case n != 0 || !errors.Is(err, os.ErrDeadlineExceeded):
			t.Fatalf("%d bytes, %v", n, err)
		}
		timeouts++
		clear(b)
		passed <- struct{}{}
		time.Sleep(time.Millisecond)
		if !bytes.Equal(b, untouched) {
			t.Fatal("the memory of a Read that has ended was written")
		}
	}
}
