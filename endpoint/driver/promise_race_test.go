//go:build linux && race

package driver

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// brokenKey makes the test binary one in which the promise is broken.
const brokenKey = "SINGLE_THREADED_TEST_BROKEN"

// TestBrokenPromiseIsARace: the race detector sees both callers though they take turns by a mutex.
func TestBrokenPromiseIsARace(t *testing.T) {
	if os.Getenv(brokenKey) != "" {
		var g endpointLock
		g.reserve(nil)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				g.lock()
				g.unlock()
			})
		}
		both.Wait()
		return
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), brokenKey+"=1")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "DATA RACE") {
		t.Errorf("%v, %s", err, out)
	}
}
