package tooltest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// runBound ends a program that hangs.
const runBound = time.Minute

// Run runs the program without any MX_* variable, and returns what it printed and its exit status.
func Run(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, Path, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MX_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ctx.Err() != nil || err != nil && !ended {
		t.Fatalf("%s %v: %v %v", Path, args, err, ctx.Err())
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}
