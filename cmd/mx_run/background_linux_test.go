package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/testlength"
)

// TestInATerminal: a job in the background is not stopped, since its ranks read nothing; one in the foreground may write where background jobs
// may not, although its ranks have groups of their own; and one that comes to the foreground reads what is typed then.
func TestInATerminal(t *testing.T) {
	testlength.Long(t)
	for name, c := range map[string]struct{ shell, typed, want string }{
		"in the background": {"set -m; $RUN -n 4 $SELF & wait $!; echo status $?", "", "status 0"},
		"tostop":            {"stty tostop; $RUN -n 2 $SELF; echo status $?", "", "status 0"},
		"to the foreground": {"set -m; $RUN -n 2 sh -c 'read line; echo got $line' & sleep 1; fg; echo status $?", "a line\n", "got a line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, slave := tooltest.PTY(t)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", c.shell)
			cmd.Env = append(command(t, "leave").Env, "RUN="+tooltest.Path, "SELF="+self(t))
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			if _, err := master.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for b := make([]byte, 1000); !strings.Contains(text.String(), c.want); {
				n, err := master.Read(b)
				if err != nil {
					t.Fatalf("%v, behind %q", err, text.String())
				}
				text.Write(b[:n])
			}
		})
	}
}
