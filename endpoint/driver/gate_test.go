//go:build linux

package driver

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"gomx/transport/bell"
)

// A lone caller and guests, of whom some come while it polls, keep out of each other's way; so do callers
// once the gate is shared.
func TestGate(t *testing.T) {
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const turns, guests, guestTurns = 5_000_000, 2, 100_000
	var g gate
	if g.reserve(b.Fence); !g.lone && !racing {
		t.Log("no barrier here: the mutex alone")
	}
	count, within := 0, false
	visit := func(outside bool) {
		if within {
			t.Error("two are inside")
		}
		within = true
		count++
		within = false
		if outside {
			g.yield()
		}
	}
	var all sync.WaitGroup
	for range guests {
		all.Go(func() {
			for i := range guestTurns {
				g.guest()
				visit(i%8 == 0)
				g.unlock()

			}
		})
	}
	for i := range turns {
		g.lock()
		visit(i%64 == 0 && g.heed.Load() != 0)
		g.unlock()
	}
	g.share()
	for range guests {
		all.Go(func() {
			for range guestTurns {
				g.lock()
				visit(false)
				g.unlock()
			}
		})
	}
	all.Wait()
	if want := turns + 2*guests*guestTurns; count != want || g.guests.Load() != 0 || g.heed.Load() != 0 {
		t.Errorf("%d turns of %d; %d guests, %d wait", count, want, g.guests.Load(), g.heed.Load())
	}
}

// TestBrokenPromise: of two callers who were inside at once, the second to leave is told which promise that breaks.
func TestBrokenPromise(t *testing.T) {
	var g gate
	if g.reserve(func() bool { return true }); !g.lone {
		t.Skip("the race detector is looking: it sees the callers, and they have the mutex")
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, errTwoCallers) {
			t.Errorf("the panic is %v, want %v", err, errTwoCallers)
		}
	}()
	g.lock()
	g.lock()
	g.unlock()
	g.unlock()
}

// brokenKey makes the test binary one in which the promise is broken.
const brokenKey = "GATE_TEST_BROKEN"

// TestBrokenPromiseIsARace: the race detector sees both callers though they take turns by a mutex.
func TestBrokenPromiseIsARace(t *testing.T) {
	if !racing {
		t.Skip("this is for the race detector")
	}
	if os.Getenv(brokenKey) != "" {
		var g gate
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
