package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/testlength"
	"gomx/mx"
)

// self sends messages of 8 bytes from the endpoint to itself.
func self(t *testing.T, ep *mx.Endpoint, n int) {
	t.Helper()
	for range n {
		r, err := ep.Isend(make([]byte, 8), ep.Addr(), 0x12, nil)
		if err == nil {
			_, _, err = ep.Wait(r, mx.Infinite)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTable(t *testing.T) {
	ep := tooltest.Open(t)
	self(t, ep, 3)
	text := tooltest.Good(t, "-p", tooltest.PID)
	names(t, text, " (board #0 name ", "\n===", "\n000:            3 messages sent\n", "\n008:           24 bytes sent\n")
	if strings.Contains(text, " 0 ") {
		t.Errorf("counters of 0 are shown:\n%s", text)
	}
	names(t, tooltest.Good(t, "-p", tooltest.PID, "-v"), "\n057:            0 links broken\n")
	names(t, tooltest.Good(t, "-p", tooltest.PID, "-e"), fmt.Sprintf(" endpoint %d (pid %s, ", ep.ID(), tooltest.PID))
}

func TestJSON(t *testing.T) {
	ep := tooltest.Open(t)
	self(t, ep, 1)
	var list []struct {
		Title    string
		Counters []mx.Counter
	}
	if err := json.Unmarshal([]byte(tooltest.Good(t, "-p", tooltest.PID, "-json", "-e")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !slices.ContainsFunc(list[0].Counters, func(c mx.Counter) bool { return c.Name == "messages_sent" && c.Value == 1 }) {
		t.Errorf("%+v", list)
	}
}

// TestClear shows what has come since, and leaves the counters of the program alone.
func TestClear(t *testing.T) {
	ep := tooltest.Open(t)
	self(t, ep, 3)
	names(t, tooltest.Good(t, "-p", tooltest.PID, "-c"), "000:            3 messages sent\n")
	self(t, ep, 2)
	names(t, tooltest.Good(t, "-p", tooltest.PID), "\nsince 2", "\n000:            2 messages sent\n", " posted receives, peak\n")
	if c := ep.Counters()[0]; c.Value != 5 {
		t.Errorf("%+v", c)
	}
}

func TestWatch(t *testing.T) {
	ep := tooltest.Open(t)
	self(t, ep, 3)
	names(t, tooltest.Good(t, "-p", tooltest.PID, "-w", "20ms", "-n", "2"), "\n000:            3            - messages sent\n", "\n000:            3           +0 messages sent\n")
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-p", tooltest.PID}, "process " + tooltest.PID + ": it has no endpoint open"},
		{[]string{"-p", "2147483647", "-w", "1s"}, "process 2147483647: there is no such process"},
		{[]string{"-q", "-v"}, "contradict"},
		{[]string{"-w", "1ns"}, "at least 10ms"},
		{[]string{"-n", "2"}, "without -w"},
		{[]string{"-w", "1s", "-n", "0"}, "above 0"},
		{[]string{"-c", "-w", "1s"}, "without -w"},
		{[]string{"-b", "x"}, "want a board number"},
		{[]string{"-b", "4000"}, "there is no board 4000: this host has boards 0 to "},
		{[]string{"-w", "10ms", "-n", "-1"}, `invalid value "-1" for flag -n: want a whole number that is not negative`},
		{[]string{"-x"}, "-h explains the flags"},
	} {
		stdout, stderr, status := tooltest.Run(t, c.args...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "mx_counters: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	names(t, tooltest.Good(t, "-h"), "-json", "-b n")
}

// names fails unless the text has all parts.
func names(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

// TestUnreadPipe ends the program by a second signal while nobody reads what it prints.
func TestUnreadPipe(t *testing.T) {
	testlength.Long(t)
	tooltest.Open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tooltest.Path, "-v", "-w", "10ms", "-p", tooltest.PID)
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	fill(t, pipe.(*os.File))
	ended := make(chan struct{})
	go func() {
		for { // the first is caught; those after the second find nobody
			_ = cmd.Process.Signal(os.Interrupt)
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	_ = cmd.Wait()
	close(ended)
	if state := cmd.ProcessState.Sys().(syscall.WaitStatus); !state.Signaled() || state.Signal() != syscall.SIGINT {
		t.Errorf("it ends with %v", cmd.ProcessState)
	}
}

// fill waits until a pipe takes nothing more: what lies in it has not grown for a while.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	for last, since := 0, time.Now(); last == 0 || time.Since(since) < time.Second; time.Sleep(20 * time.Millisecond) {
		n, err := unix.IoctlGetInt(int(pipe.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if n != last {
			last, since = n, time.Now()
		}
	}
}
