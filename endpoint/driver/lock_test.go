//go:build linux

package driver

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"gomx/transport/bell"
)

// A single caller and foreign callers, some of them while it polls, exclude each other; so do callers once
// single-threaded mode is off.
func TestEndpointLock(t *testing.T) {
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const turns, foreign, foreignTurns = 5_000_000, 2, 100_000
	var l endpointLock
	if l.reserve(b.Fence); !l.single && !racing {
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
			l.yield()
		}
	}
	var all sync.WaitGroup
	for range foreign {
		all.Go(func() {
			for i := range foreignTurns {
				l.lockForeign()
				visit(i%8 == 0)
				l.unlock()

			}
		})
	}
	for i := range turns {
		l.lock()
		visit(i%64 == 0 && l.heed.Load() != 0)
		l.unlock()
	}
	l.share()
	for range foreign {
		all.Go(func() {
			for range foreignTurns {
				l.lock()
				visit(false)
				l.unlock()
			}
		})
	}
	all.Wait()
	if want := turns + 2*foreign*foreignTurns; count != want || l.foreign.Load() != 0 || l.heed.Load() != 0 {
		t.Errorf("%d turns of %d; %d foreign callers, %d wait", count, want, l.foreign.Load(), l.heed.Load())
	}
}

// The single caller takes the mutex once the machine has refused the barrier to a foreign caller.
func TestEndpointLockWithoutBarrier(t *testing.T) {
	if racing {
		t.Skip("under the race detector the lock is a mutex anyway")
	}
	var l endpointLock
	granted := true
	l.reserve(func() bool { return granted })
	l.lock()
	if l.held != byWord {
		t.Error("the caller takes the mutex though nobody else is there")
	}
	l.unlock()
	granted = false
	l.lockForeign()
	l.unlock()
	for range 2 {
		l.lock()
		if l.held == byWord {
			t.Error("the caller relies on a barrier that there is not")
		}
		l.unlock()
	}
}

// A goroutine that takes the lock in a loop keeps it from nobody: who waits has it after some turns, not after the millisecond that a mutex lets pass.
func TestEndpointLockIsFair(t *testing.T) {
	var l endpointLock
	var turns atomic.Int64
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !over.Load() {
			l.lock()
			for range 100 { // most of its time it has the lock
				turns.Add(1)
			}
			l.unlock()
		}
	}()
	const times, most = 200, 100 * 2 * mostBarged
	late := 0 // waits that were long, for which the kernel may be the reason now and then
	for range times {
		for before := turns.Load(); turns.Load() == before; { // the other one is running
			runtime.Gosched()
		}
		before := turns.Load()
		l.lock()
		if turns.Load()-before > most {
			late++
		}
		l.unlock()
	}
	over.Store(true)
	<-done
	if late > times/4 {
		t.Errorf("%d of %d waits lasted for more than %d steps of another goroutine", late, times, most)
	}
}
