package mx_test

import (
	"testing"

	"gomx/mx"
)

// TestNothingIsAdded: nil in place of a function adds nothing that a snapshot would call.
func TestNothingIsAdded(t *testing.T) {
	removes := []func(){mx.AddCounters(nil), mx.AddWaits(nil)}
	_ = mx.Snapshot()
	for _, remove := range removes {
		remove()
		remove()
	}
}
