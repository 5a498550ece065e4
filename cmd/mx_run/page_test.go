package main

import (
	"testing"

	"gomx/cmd/internal/tooltest"
)

// TestPage compares the program with its page, and has it print to a full disk.
func TestPage(t *testing.T) {
	tooltest.Page(t, t.TempDir(), "-n 2 echo", "-l -n 2 echo", "-l -n 2 printf text")
}
