// Package testlength says which tests go test -short leaves out.
package testlength

import (
	"os"
	"testing"
)

// Long marks a test that takes half a second or more. It is left out with -short, which is for a quick answer. Two kinds of runs need -short to be
// bearable, and nevertheless have these tests, with what they do then less of: those with the race detector, which looks for all ways in which
// goroutines meet, and those in the machine of integration/rdmavm.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() && !raceDetector && os.Getenv("GOMX_RDMAVM_HOST") == "" {
		t.Skip("-short: this takes half a second or more")
	}
}
