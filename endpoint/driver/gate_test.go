//go:build linux

package driver

import (
	"runtime"
	"sync"
	"sync/atomic"
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

// A lone caller takes the mutex once the machine has refused a barrier to a guest.
func TestGateOfAMachineThatRefusesTheBarrier(t *testing.T) {
	if racing {
		t.Skip("under the race detector the lock is a mutex anyway")
	}
	var g gate
	granted := true
	g.reserve(func() bool { return granted })
	g.lock()
	if g.held != byWord {
		t.Error("the caller takes the mutex though nobody else is there")
	}
	g.unlock()
	granted = false
	g.guest()
	g.unlock()
	for range 2 {
		g.lock()
		if g.held == byWord {
			t.Error("the caller relies on a barrier that there is not")
		}
		g.unlock()
	}
}

// A goroutine that takes the lock in a loop keeps it from nobody: who waits has it after some turns, not after the millisecond that a mutex lets pass.
func TestGateIsFair(t *testing.T) {
	var g gate
	var turns atomic.Int64
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !over.Load() {
			g.lock()
			for range 100 { // most of its time it has the lock
				turns.Add(1)
			}
			g.unlock()
		}
	}()
	const times, most = 200, 100 * 2 * mostBarged
	late := 0 // waits that were long, for which the kernel may be the reason now and then
	for range times {
		for before := turns.Load(); turns.Load() == before; { // the other one is running
			runtime.Gosched()
		}
		before := turns.Load()
		g.lock()
		if turns.Load()-before > most {
			late++
		}
		g.unlock()
	}
	over.Store(true)
	<-done
	if late > times/4 {
		t.Errorf("%d of %d waits lasted for more than %d steps of another goroutine", late, times, most)
	}
}
