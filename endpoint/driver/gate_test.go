//go:build linux

package driver

import (
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
