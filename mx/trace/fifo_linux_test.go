package trace_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"gomx/mx/trace"
)

// TestFIFO is no trace, and nobody waits for who would write it.
func TestFIFO(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f.mxtrace")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Read(dir); !errors.Is(err, trace.ErrNone) {
		t.Errorf("the folder: %v", err)
	}
	if _, err := trace.Read(name); !errors.Is(err, trace.ErrNotTrace) {
		t.Errorf("itself: %v", err)
	}
}
