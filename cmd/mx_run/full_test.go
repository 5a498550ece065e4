//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
)

// TestFullOutput: if the labelled output can't be written, mx_run says why, and not what became of the rank.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full: ", err)
	}
	defer full.Close()
	for _, script := range []string{"echo once", "while :; do echo again; done"} {
		c := command(t, "", "-l", "-n", "2", "sh", "-c", script)
		var errs strings.Builder
		c.Stdout, c.Stderr = full, &errs
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "has output that was not written: write /dev/stdout: no space left on device") {
			t.Errorf("%s: status %d, %q", script, code, errs.String())
		}
	}
}
