//go:build unix

package mx_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/mx"
)

// statsChildKey makes TestStatistics the process that prints statistics.
const statsChildKey = "MX_TEST_STATS"

// saysOpen is what the child prints when its endpoint is open and has sent itself a message.
const saysOpen = "open"

// beStatsChild is what TestStatistics does in the process that it starts. The endpoint is closed when standard input ends.
func beStatsChild(t *testing.T) {
	t.Helper()
	w := newWorld(t, "mem")
	ep := w.open()
	w.succeed(ep, w.isend(ep, pattern(8, 0), ep.Addr(), 1))
	_, _ = os.Stdout.WriteString(saysOpen + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := ep.Close(); err != nil {
		t.Fatal(err)
	}
}

// statsBlock is in all statistics of the child.
const statsBlock = "\n    messages sent: 1\n"

// statsChild is a process with an endpoint and MX_STATS.
type statsChild struct {
	*exec.Cmd
	t      *testing.T
	in     io.Closer
	stderr lines
}

func startStatsChild(t *testing.T, how string) *statsChild {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStatistics$")
	cmd.Env = append(os.Environ(), statsChildKey+"=1", "MX_STATS="+how)
	c := &statsChild{Cmd: cmd, t: t}
	cmd.Stderr = &c.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.in = in
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != saysOpen+"\n" {
		t.Fatalf("%q, %v: %s", line, err, c.stderr.String())
	}
	return c
}

// blocks waits until the child has printed so many statistics.
func (c *statsChild) blocks(what string, n int) {
	c.t.Helper()
	for deadline := time.Now().Add(bound); c.count() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: not %d statistics within %v, but\n%s", what, n, bound, c.stderr.String())
		}
	}
}

func (c *statsChild) count() int { return strings.Count(c.stderr.String(), statsBlock) }

func (c *statsChild) user1() {
	c.t.Helper()
	if err := c.Process.Signal(syscall.SIGUSR1); err != nil {
		c.t.Fatal(err)
	}
}

// end has the child close its endpoint, and waits for its end.
func (c *statsChild) end() {
	c.t.Helper()
	c.in.Close()
	if err := c.Wait(); err != nil {
		c.t.Fatalf("%v: %s", err, c.stderr.String())
	}
}

// TestStatistics wants statistics from time to time, for a signal and at the end, as MX_STATS says, and none without reason. Where the
// period is an hour each of them has another reason.
func TestStatistics(t *testing.T) {
	if os.Getenv(statsChildKey) != "" {
		beStatsChild(t)
		return
	}
	t.Run("close,usr1,1h", func(t *testing.T) {
		c := startStatsChild(t, "close,usr1,1h")
		if c.count() != 0 {
			t.Errorf("without reason:\n%s", c.stderr.String())
		}
		for n := range 2 {
			c.user1()
			c.blocks("SIGUSR1", n+1)
		}
		c.end()
		if n := c.count(); n != 3 {
			t.Errorf("%d statistics for two signals and the end:\n%s", n, c.stderr.String())
		}
	})
	t.Run("close,usr1,50ms", func(t *testing.T) {
		c := startStatsChild(t, "close,usr1,50ms")
		c.blocks("periodic", 2)
		c.user1()
		c.blocks("periodic, after SIGUSR1", c.count()+3)
		c.end()
	})
	t.Run("close", func(t *testing.T) {
		c := startStatsChild(t, "close")
		time.Sleep(100 * time.Millisecond)
		if c.count() != 0 {
			t.Errorf("without reason:\n%s", c.stderr.String())
		}
		c.end()
		if n := c.count(); n != 1 {
			t.Errorf("%d statistics at the end:\n%s", n, c.stderr.String())
		}
	})
	t.Run("usr1", func(t *testing.T) {
		c := startStatsChild(t, "usr1")
		c.user1()
		c.blocks("SIGUSR1", 1)
		c.end()
		if n := c.count(); n != 1 {
			t.Errorf("%d statistics for one signal:\n%s", n, c.stderr.String())
		}
	})
}

// TestStatisticsThatMakeNoSense are refused by Init, which says what there may be.
func TestStatisticsThatMakeNoSense(t *testing.T) {
	for _, how := range []string{"foo", "close,foo", "close,", "1ms"} {
		t.Setenv("MX_STATS", how)
		refused(t, mx.Init(), mx.ErrBadParamVal, "init", "MX_STATS", how, "want off, or some of close, usr1 and a duration from 10ms such as 10s, with commas")
	}
	t.Setenv("MX_STATS", "close,usr1,10ms")
	initialize(t)
}
