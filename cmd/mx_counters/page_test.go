package main

import (
	"testing"

	"gomx/cmd/internal/tooltest"
)

// TestPage compares the program with its page, and has it print to a full disk.
func TestPage(t *testing.T) {
	tooltest.Page(t, t.TempDir(), "", "-json", "-w 10ms -n 2")
}
