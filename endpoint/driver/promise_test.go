//go:build linux && !race

package driver

import (
	"errors"
	"testing"
)

// TestBrokenPromise: of two callers who were inside at once, the second to leave is told which promise that breaks.
func TestBrokenPromise(t *testing.T) {
	var l endpointLock
	l.reserve(func() bool { return true })
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, errTwoCallers) {
			t.Errorf("the panic is %v, want %v", err, errTwoCallers)
		}
	}()
	l.lock()
	l.lock()
	l.unlock()
	l.unlock()
}
