package child_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"gomx/integration/rdmavm/internal/child"
)

const role = "GOMX_CHILD_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "parent": // has a child, and dies without a word to it
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout = os.Stdout
		go func() { _ = child.Run(context.Background(), cmd) }()
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	default:
		os.Exit(m.Run())
	}
}

// The whole group must end for the pipe to close.
func TestKilledWithItsGroup(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo started; wait")
	cmd.Stdout = w
	ended := make(chan error, 1)
	go func() { ended <- child.Run(ctx, cmd) }()
	if _, err := io.ReadFull(r, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	_ = w.Close()
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v, want %v", err, io.EOF)
	}
}

func TestDiesWithItsParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=parent")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if _, err := io.ReadAll(out); err != nil { // comes to an end only when the grandchild does
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestExitStatus(t *testing.T) {
	var exit *exec.ExitError
	if err := child.Run(t.Context(), exec.Command("sh", "-c", "exit 3")); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Error(err)
	}
	if err := child.Run(t.Context(), exec.Command("true")); err != nil {
		t.Error(err)
	}
}
