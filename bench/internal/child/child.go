package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// grace is what a child that was asked to end gets before it is killed: mpirun
// wants a moment to end its ranks and remove its files.
const grace = 3 * time.Second

// shownLines of a failed child's complaints go into the error.
const shownLines = 12

// ErrTimeout says that a child did not end within its Timeout.
var ErrTimeout = errors.New("did not end in time")

// Command is a program to run.
type Command struct {
	Path    string        // of the executable
	Args    []string      // without the program's name
	Env     []string      // the whole environment; nil means the caller's own
	Dir     string        // working directory; "" means the caller's own
	Timeout time.Duration // 0 means no limit

	// Enough, if there is one, says whether the child has printed all that is wanted of it. If it then does not end
	// by itself within Patience, it is ended, and that is no error.
	Enough   func(stdout []byte) bool
	Patience time.Duration
}

// String is the command as one would type it.
func (c Command) String() string {
	return strings.Join(append([]string{c.Path}, c.Args...), " ")
}

// Run starts c, waits for its end and returns what it printed. When ctx is
// done or the timeout passes, the child's process group is asked to end and
// then killed. The error is ctx's if ctx is done, wraps ErrTimeout if the child
// took too long, and otherwise holds the end of what the child complained.
func Run(ctx context.Context, c Command) (stdout, stderr []byte, err error) {
	// The death signal of a child follows the thread that started it, so that
	// thread must live as long as the child does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	limited, cancel := limit(ctx, c.Timeout)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(limited, c.Path, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, &out, &complaints
	if c.Enough != nil {
		cmd.Stdout = &watched{Buffer: &out, enough: c.Enough, then: func() { time.AfterFunc(c.Patience, cancel) }}
	}
	isolate(cmd)
	cmd.Cancel = func() error { return askToEnd(cmd.Process) }
	cmd.WaitDelay = grace
	err = cmd.Run()
	if cmd.Process != nil {
		killGroup(cmd.Process.Pid)
	}
	if ctx.Err() == nil && errors.Is(limited.Err(), context.Canceled) { // it had printed enough
		err = nil
	}
	return out.Bytes(), complaints.Bytes(), explain(ctx, limited, c, err, complaints.Bytes(), out.Bytes())
}

// watched is what a child has printed, with an eye on whether it is enough.
type watched struct {
	*bytes.Buffer
	enough func([]byte) bool
	then   func()
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if w.then != nil && w.enough(w.Bytes()) {
		w.then()
		w.then = nil
	}
	return n, err
}

// ReadFrom would take bytes past Write.
func (w *watched) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{w}, r) }

func limit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

func explain(ctx, limited context.Context, c Command, err error, stderr, stdout []byte) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		err = fmt.Errorf("%w (%v)", ErrTimeout, c.Timeout)
	}
	said := lastLines(stderr)
	if said == "" {
		said = lastLines(stdout)
	}
	return fmt.Errorf("%s: %w%s", filepath.Base(c.Path), err, said)
}

func lastLines(text []byte) string {
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" {
		return ""
	}
	lines := strings.Split(trimmed, "\n")
	if len(lines) > shownLines {
		lines = lines[len(lines)-shownLines:]
	}
	return "\n    " + strings.Join(lines, "\n    ")
}
