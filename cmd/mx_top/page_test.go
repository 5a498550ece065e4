package main

import (
	"testing"

	"gomx/cmd/internal/tooltest"
)

// TestPage compares the program with its page, and has it print to a full disk.
func TestPage(t *testing.T) {
	tooltest.Page(t, t.TempDir(), "-once -w 100ms", "-json -w 100ms", "-http 127.0.0.1:0")
}
