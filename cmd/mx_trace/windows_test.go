package main_test

import (
	"regexp"
	"strings"
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/mpi"
)

// TestWindows shows what ranks have done with the windows of others.
func TestWindows(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("MX_TRACE", folder)
	t.Setenv("MX_TRACE_BYTES", "64K")
	err := mpi.Run(2, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 8)
		if err == nil {
			err = win.Fence()
		}
		if err == nil && world.Rank() == 1 {
			err = win.Put(make([]int, 3), 0, 1)
		}
		if err == nil {
			err = win.Fence()
		}
		if err == nil {
			err = win.Free()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out, complaints, status := tooltest.Run(t, folder)
	if status != 0 || complaints != "" {
		t.Fatalf("status %d:\n%s", status, complaints)
	}
	// Behind the put comes the empty one of Fence, whose answer says that the other is done.
	table := regexp.MustCompile(`\n\n  windows  puts  gets  atomics  refused  until answered  served\n +rank 0 +0 +0 +0 +0 +0s +2\n +rank 1 +2 +0 +0 +0 +\S*s +0\n`)
	if !table.MatchString(out) {
		t.Errorf("the report has no table of windows, or another one:\n%s", out)
	}
	if out, _, _ = tooltest.Run(t, "-o", "-", folder); !strings.Contains(out, `"name":"put served"`) || !strings.Contains(out, `"bytes":24,"window"`) || !strings.Contains(out, `"bytes":0,"window"`) {
		t.Errorf("the file for Perfetto lacks a put served, of 24 bytes or of none:\n%s", out)
	}
}
