// Package testlength says which tests go test -short leaves out.
package testlength

import (
	"os"
	"testing"
)

// Long marks a test that takes half a second or more. It is left out with -short, which is for a quick answer. But it is run, and does less, where
// -short only keeps a long run bearable: with the race detector, which is to see all ways in which goroutines meet, and in the machine of
// integration/rdmavm.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() && !raceDetector && os.Getenv("GOMX_RDMAVM_HOST") == "" {
		t.Skip("-short: this takes half a second or more")
	}
}

// Alone marks a long test in which no goroutines meet. The race detector, which has nothing to find in it and makes it many times longer, leaves
// it out.
func Alone(t testing.TB) {
	t.Helper()
	if raceDetector {
		t.Skip("-race: no goroutines meet here")
	}
}
