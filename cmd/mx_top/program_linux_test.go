package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
)

func TestOnce(t *testing.T) {
	ep := tooltest.Open(t)
	text := tooltest.Good(t, "-once", "-w", "100ms", "-p", tooltest.PID)
	for _, part := range []string{
		"1 endpoint of 1 process, 0 jobs: 0 messages/s", ep.String() + "  ", "Requests that are not complete",
		"recv  anyone   0x12  0xff     24  waits for its match",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func TestJSON(t *testing.T) {
	ep := tooltest.Open(t)
	v := struct {
		Over      float64
		Endpoints []struct {
			Name string
			PID  int
		}
	}{}
	if err := json.Unmarshal([]byte(tooltest.Good(t, "-json", "-w", "100ms", "-p", tooltest.PID)), &v); err != nil {
		t.Fatal(err)
	}
	if v.Over <= 0 || len(v.Endpoints) != 1 || v.Endpoints[0].Name != ep.String() || v.Endpoints[0].PID != os.Getpid() {
		t.Errorf("%+v", v)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-once", "-p", tooltest.PID}, "process " + tooltest.PID + ": it has no endpoint open"},
		{[]string{"-json", "-p", "2147483647"}, "process 2147483647: there is no such process"},
		{nil, "no terminal: give -once, -json or -http"},
		{[]string{"-once", "-p", "1,x"}, "want the number of a process"},
		{[]string{"-once", "-b", "x"}, "want a board number"},
		{[]string{"-w", "1ms"}, "at least 100ms"},
		{[]string{"-http", "127.0.0.1:0", "-once"}, "give it without -once"},
		{[]string{"-http", "127.0.0.1:x"}, "listen tcp"},
		{[]string{"-http", ""}, "wants an address"},
		{[]string{"more"}, `unexpected argument "more"`},
	} {
		stdout, stderr, status := tooltest.Run(t, c.args...)
		if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "mx_top: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
}

// TestTerminal presses keys in a terminal, that of script of util-linux.
func TestTerminal(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("script is not installed (Debian: bsdutils)")
	}
	tooltest.Open(t)
	cmd := exec.CommandContext(t.Context(), script, "-qec", "stty rows 24 cols 100; exec "+tooltest.Path+" -w 100ms -p "+tooltest.PID, "/dev/null")
	cmd.Env = append(os.Environ(), "TERM=xterm")
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
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	seen, buf := "", make([]byte, 1<<16)
	until := func(want string) {
		t.Helper()
		for !strings.Contains(seen, want) {
			n, err := out.Read(buf)
			if seen += string(buf[:n]); err != nil {
				t.Fatalf("%q never came: %v\n%q", want, err, seen)
			}
		}
		seen = ""
	}
	press := func(keys string) {
		t.Helper()
		if _, err := in.Write([]byte(keys)); err != nil {
			t.Fatal(err)
		}
	}
	until("[1 endpoints]")
	press("4")
	until("waits for its match")
	press("?")
	until("this text, or back")
	press("?\t")
	until("[1 endpoints]")
	press("s")
	until("by rate")
	press("q")
	until("\x1b[?1049l") // the screen that was there before
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
