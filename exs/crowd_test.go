package exs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
	"gomx/mx"
)

// fewKey names the variable that makes the test binary a server. Its value is the medium, and how many descriptors the server leaves
// itself, or less than 0 for as many as there are.
const fewKey = "GOMX_EXS_TEST_SERVER"

// echoServer accepts until the end, whatever Accept says meanwhile, and tells its address and then the errors of Accept.
func echoServer(text string) error {
	var medium string
	var left int
	if _, err := fmt.Sscan(text, &medium, &left); err != nil {
		return err
	}
	l, err := exs.Open(exs.Version1, mx.WithTransports(medium))
	if err != nil {
		return err
	}
	ln, err := l.Listen("exs", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if left >= 0 {
		defer leave(left)()
	}
	fmt.Println(ln.Addr())
	for {
		c, err := ln.Accept()
		switch {
		case errors.Is(err, exs.EMFILE):
			fmt.Println(err)
		case err != nil:
			return err
		default:
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}
}

// leave takes all descriptors but some.
func leave(left int) (end func()) {
	var taken []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	for _, f := range taken[:left] {
		_ = f.Close()
	}
	return func() {
		for _, f := range taken[left:] {
			_ = f.Close()
		}
	}
}

// few starts a server in a process that can open few files, and returns its address and what it says of Accept.
func (w *world) few(medium string) (addr string, said *bufio.Reader) {
	w.Helper()
	return w.fewer(medium, -1)
}

// fewer is few of a server that leaves itself a number of descriptors.
func (w *world) fewer(medium string, left int) (addr string, said *bufio.Reader) {
	w.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		w.Skip("the limit is set by a shell: ", err)
	}
	self, err := os.Executable()
	w.ok(err)
	cmd := exec.Command(shell, "-c", `ulimit -n 40; exec "$0"`, self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", fewKey, medium, left))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	w.ok(err)
	w.ok(cmd.Start())
	w.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	said = bufio.NewReader(out)
	addr, err = said.ReadString('\n')
	w.ok(err)
	return strings.TrimSpace(addr), said
}

// A server that can open few files loses no client of a crowd that has patience, over what medium they may come.
func TestCrowdWithFewDescriptors(t *testing.T) {
	for _, medium := range []string{"shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			addr, _ := w.few(medium)
			ctx, stop := context.WithTimeout(t.Context(), 4*bound)
			defer stop()
			var crowd sync.WaitGroup
			for range 200 {
				crowd.Go(func() {
					if err := w.echoes(ctx, addr); err != nil {
						t.Error(err)
					}
				})
			}
			crowd.Wait()
		})
	}
}

// A server that has a descriptor for a client's TCP connection, and none or too few for the connection to its endpoint, hears that from
// Accept, and the client from its dial.
func TestFewDescriptorsLeft(t *testing.T) {
	for left := range 4 { // with one more, another that the server gives back at that moment is enough
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "shm")
			addr, said := w.fewer("shm", left)
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			_, err := w.here.DialContext(ctx, "exs", addr)
			says(t, err, "no file descriptor left", "ulimit -n")
			if left > 0 {
				says(t, err, "did not let this client in")
			}
			line, _ := said.ReadString('\n')
			says(t, errors.New(line), "accept exs", "too many open files", "ulimit -n")
		})
	}
	t.Run("enough", func(t *testing.T) {
		w := newWorld(t, "shm")
		addr, _ := w.fewer("shm", 7)
		w.ok(w.echoes(t.Context(), addr))
	})
}

// echoes has a server send a byte back.
func (w *world) echoes(ctx context.Context, addr string) error {
	c, err := w.here.DialContext(ctx, "exs", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * bound))
	if _, err = c.Write([]byte("x")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 1))
	return err
}

// Strangers who take all the files of a server, whether they say nothing or hello and no more, don't keep a client out that has patience, and
// the server hears from Accept that there are too few.
func TestStrangersTakeDescriptors(t *testing.T) {
	testlength.Long(t)
	greeting := append([]byte("gomx exs\x01\x00\x01"), make([]byte, 61)...)
	greeting[36] = exs.DefaultCredits
	for kind, says := range map[string][]byte{"mute": nil, "hello": greeting} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, "shm")
			addr, said := w.few("shm")
			told := make(chan string, 1)
			go func() {
				line, _ := said.ReadString('\n')
				told <- line
			}()
			line := ""
			for range 100 { // who comes while the server is not in Accept is not told of
				for range 20 {
					c, err := net.Dial("tcp", addr)
					w.ok(err)
					defer c.Close()
					_, _ = c.Write(says) // it may have been sent out already
				}
				select {
				case line = <-told:
				case <-time.After(50 * time.Millisecond):
					continue
				}
				break
			}
			if !strings.Contains(line, "ulimit -n") {
				t.Errorf("Accept says %q", line)
			}
			ctx, stop := context.WithTimeout(t.Context(), 3*bound)
			defer stop()
			w.ok(w.echoes(ctx, addr))
		})
	}
}
