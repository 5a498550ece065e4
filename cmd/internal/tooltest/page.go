package tooltest

import (
	"testing"

	"gomx/internal/testlength"
	"gomx/internal/toolpage"
)

// Page compares the program with its page in docs/tools, and has it print to a full disk by command lines of which each prints something,
// in the folder dir.
func Page(t *testing.T, dir string, lines ...string) {
	t.Helper()
	testlength.Long(t)
	toolpage.Check(t, Path, "../..", dir, lines...)
}
