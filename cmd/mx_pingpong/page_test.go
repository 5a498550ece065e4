package main

import (
	"testing"

	"gomx/cmd/internal/tooltest"
)

// TestPage compares the program with its page, and has it print to a full disk.
func TestPage(t *testing.T) {
	t.Parallel()
	tooltest.Page(t, t.TempDir(), "-transport mem -E 3", "-transport mem -E 3 -json", "-transport mem -E 3 -csv", "-s -e 99")
}
