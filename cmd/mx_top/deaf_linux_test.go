package main_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/testlength"
)

// modes are those of a terminal.
func modes(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// fill writes to a terminal that nothing reads until it takes no more.
func fill(t *testing.T, slave *os.File) {
	t.Helper()
	fd, err := unix.Open(slave.Name(), unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for refused := 0; refused < 5; { // the system moves on what it has, and then has room again
		switch _, err := unix.Write(fd, []byte{0}); err {
		case nil:
			refused = 0
		case unix.EAGAIN:
			refused++
			time.Sleep(20 * time.Millisecond)
		default:
			t.Fatal(err)
		}
	}
}

// TestDeafTerminal ends the program by a signal while its terminal takes no output.
func TestDeafTerminal(t *testing.T) {
	testlength.Long(t)
	tooltest.Open(t)
	for _, c := range []struct {
		name   string
		deafen func(t *testing.T, slave *os.File)
	}{
		{"nothing reads it", fill},
		{"it is stopped", func(t *testing.T, slave *os.File) {
			if err := unix.IoctlSetInt(int(slave.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			master, slave := tooltest.PTY(t)
			before := modes(t, slave)
			c.deafen(t, slave)
			cmd := inPTY(t, slave, "-w", "100ms", "-p", tooltest.PID)
			for end := time.Now().Add(time.Minute); modes(t, slave) == before; { // it takes the terminal over, and then draws
				if time.Now().After(end) {
					t.Fatal("it does not take the terminal over")
				}
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(300 * time.Millisecond)
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("it does not end: %v", err)
			}
			if after := modes(t, slave); after != before {
				t.Errorf("the terminal was %+v and is %+v", before, after)
			}
			text := make([]byte, 1<<20)
			n, err := master.Read(text)
			for more := 0; err == nil && !strings.Contains(string(text[:n]), otherScreen); n += more {
				more, err = master.Read(text[n:])
			}
			if err != nil {
				t.Errorf("reading it at last: %v after %q", err, text[:n])
			}
		})
	}
}

// TestDeafTable ends the program while it prints to a terminal that takes no output.
func TestDeafTable(t *testing.T) {
	testlength.Long(t)
	tooltest.Open(t)
	_, slave := tooltest.PTY(t)
	fill(t, slave)
	cmd := inPTY(t, slave, "-once", "-w", "100ms", "-p", tooltest.PID)
	time.Sleep(time.Second)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("it ends with %v", err)
	}
}

// inPTY starts the program in a terminal. It is killed if it goes on for long.
func inPTY(t *testing.T, slave *os.File, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, tooltest.Path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}
