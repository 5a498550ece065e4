package main_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
)

// output is what a run of the program left.
type output struct {
	stdout, stderr string
	status         int
}

// run runs the program with MX_* variables as given and no others.
func run(t *testing.T, env []string, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tooltest.Path, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MX_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("mx_info %v: %v %v", args, err, ctx.Err())
	}
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// good runs the program, which must succeed, and returns what it printed.
func good(t *testing.T, env []string, args ...string) string {
	t.Helper()
	o := run(t, env, args...)
	if o.status != 0 || o.stderr != "" {
		t.Fatalf("mx_info %v: status %d, %s", args, o.status, o.stderr)
	}
	return o.stdout
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
