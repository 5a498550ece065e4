package mpi

import (
	"os"
	"testing"
)

func TestWtimeGoesForward(t *testing.T) {
	last := Wtime()
	for range 1000 {
		now := Wtime()
		if now < last {
			t.Fatalf("%v after %v", now, last)
		}
		last = now
	}
}

func TestProcessorName(t *testing.T) {
	if name, err := os.Hostname(); err == nil && ProcessorName() != name {
		t.Errorf("%q, the system says %q", ProcessorName(), name)
	}
}
