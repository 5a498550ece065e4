package main

import (
	"testing"

	"gomx/cmd/internal/tooltest"
)

// TestPage compares the program with its page, and has it print to a full disk.
func TestPage(t *testing.T) {
	tooltest.Page(t, t.TempDir(), "-t 10ms", "-t 10ms -json", "-s -p 0")
}
