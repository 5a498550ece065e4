package main_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
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
		{[]string{"-once", "-b", "4000"}, "there is no board 4000: this host has boards 0 to "},
		{[]string{"-http", "127.0.0.1:0", "-b", "4000"}, "there is no board 4000: this host has boards 0 to "},
		{[]string{"-w", "1ms"}, "at least 100ms"},
		{[]string{"-w", "often"}, `invalid value "often" for flag -w: want a duration, such as 250ms`},
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

// terminal is a program in a terminal, that of script of util-linux.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.Writer
	out  io.Reader
	seen string
}

// inTerminal runs lines of a shell in a terminal.
func inTerminal(t *testing.T, lines string) *terminal {
	t.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("script is not installed (Debian: bsdutils)")
	}
	cmd := exec.CommandContext(t.Context(), script, "-qec", "stty rows 24 cols 100; "+lines, "/dev/null")
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
	t.Cleanup(func() { stuck.Stop() })
	return &terminal{t: t, cmd: cmd, in: in, out: out}
}

// until reads until there is something that fits, and returns its parts.
func (term *terminal) until(want string) []string {
	term.t.Helper()
	for buf := make([]byte, 1<<16); ; {
		if at := regexp.MustCompile(want).FindStringSubmatch(term.seen); at != nil {
			term.seen = ""
			return at
		}
		n, err := term.out.Read(buf)
		if term.seen += string(buf[:n]); err != nil && n == 0 {
			term.t.Fatalf("%q never came: %v\n%q", want, err, term.seen)
		}
	}
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := io.WriteString(term.in, keys); err != nil {
		term.t.Fatal(err)
	}
}

// TestTerminal presses keys in a terminal.
func TestTerminal(t *testing.T) {
	tooltest.Open(t)
	term := inTerminal(t, "exec "+tooltest.Path+" -w 100ms -p "+tooltest.PID)
	term.until(`\[1 load\]`)
	term.press("4")
	term.until("waits for its match")
	term.press("?")
	term.until("this text, or back")
	term.press("?\t")
	term.until(`\[1 load\]`)
	term.press("s")
	term.until("by rate")
	term.press("q")
	term.until(regexp.QuoteMeta(otherScreen))
	if err := term.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// otherScreen has a terminal show the screen that was there before.
const otherScreen = "\x1b[?1049l"

// TestSignals has the terminal as it was after a signal that asks the program to end.
func TestSignals(t *testing.T) {
	tooltest.Open(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			tooltest.Hear(t, s)
			term := inTerminal(t, "stty -g; sh -c 'echo pid $$; exec "+tooltest.Path+" -w 100ms -p "+tooltest.PID+"'; echo status $?; stty -g")
			at := term.until(`([0-9a-f:]{20,})\s+pid (\d+)`)
			pid, err := strconv.Atoi(at[2])
			if err != nil {
				t.Fatal(err)
			}
			term.until(`\[1 load\]`)
			if err := syscall.Kill(pid, s); err != nil {
				t.Fatal(err)
			}
			after := term.until(regexp.QuoteMeta(otherScreen) + `status (\d+)\s+([0-9a-f:]{20,})\s`)
			if after[1] != "0" || after[2] != at[1] {
				t.Errorf("status %s; the terminal was %s and is %s", after[1], at[1], after[2])
			}
			if err := term.cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
