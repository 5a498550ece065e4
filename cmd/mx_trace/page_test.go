package main_test

import (
	"testing"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/toolpage"
)

// TestPage compares the program with its page, and has it print to a full disk.
func TestPage(t *testing.T) {
	folder, _ := job(t)
	tooltest.Page(t, t.TempDir(), folder, "-json "+folder, "-o - "+folder, "-o "+toolpage.Full+" "+folder)
}
