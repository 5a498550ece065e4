package main

import (
	"bufio"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/testlength"
)

// endSignals are those that end the program. A shell sends SIGHUP when its terminal goes.
var endSignals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// start starts the program, and returns what it prints on its standard output. It is killed if it goes on for long.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, out *bufio.Reader, complaints *strings.Builder) {
	t.Helper()
	cmd, complaints = exec.CommandContext(t.Context(), tooltest.Path, args...), &strings.Builder{}
	cmd.Stderr = complaints
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { stuck.Stop() })
	return cmd, bufio.NewReader(pipe), complaints
}

// TestPageEnds ends the server of the page by a signal, while a client has asked half a question.
func TestPageEnds(t *testing.T) {
	testlength.Long(t)
	tooltest.Open(t)
	for _, s := range endSignals {
		t.Run(s.String(), func(t *testing.T) {
			tooltest.Hear(t, s)
			cmd, out, complaints := start(t, "-http", ":0", "-p", tooltest.PID)
			url, err := out.ReadString('\n')
			if err != nil || !strings.HasPrefix(url, "http://127.0.0.1:") {
				t.Fatalf("it prints %q: %v", url, err)
			}
			host := strings.Split(url, "/")[2]
			c, err := net.Dial("tcp", host)
			if err == nil {
				_, err = c.Write([]byte("GET / HT"))
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || complaints.String() != "" {
				t.Errorf("%v: %s", err, complaints)
			}
		})
	}
}

// TestOnlyLoopback has the page out of reach by other addresses of this host unless one is asked for.
func TestOnlyLoopback(t *testing.T) {
	for _, c := range []struct{ asked, listens string }{
		{":8080", "127.0.0.1:8080"}, {":0", "127.0.0.1:0"}, {"0.0.0.0:8080", "0.0.0.0:8080"}, {"[::]:8080", "[::]:8080"}, {"node7:80", "node7:80"}, {"x", "x"},
	} {
		if got := orLoopback(c.asked); got != c.listens {
			t.Errorf("%s listens on %s, want %s", c.asked, got, c.listens)
		}
	}
}
