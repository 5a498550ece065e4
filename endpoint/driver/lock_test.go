//go:build linux

package driver

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gomx/endpoint/driver/internal/goroutine"
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

// Outside of single-threaded mode the goroutine that calls most is favoured, whichever that is at the time, and excludes the others
// and foreign callers all the same.
func TestEndpointLockFavours(t *testing.T) {
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const hosts, rounds, turns, guests, guestTurns = 3, 40, 20_000, 2, 2_000
	var l endpointLock
	l.learn(b.Fence)
	count, favours := 0, 0
	visit := func() {
		count++
		if l.held == byFavour {
			favours++
		}
	}
	var all sync.WaitGroup
	for i := range guests {
		all.Go(func() {
			for range guestTurns {
				switch i {
				case 0:
					l.lockForeign()
				case 1:
					l.visit()
				}
				visit()
				l.unlock()
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	baton := make(chan struct{}, 1)
	baton <- struct{}{}
	for range hosts {
		all.Go(func() {
			for range rounds {
				<-baton
				for i := range turns {
					l.lock()
					visit()
					if i%64 == 0 && l.heed.Load() != 0 {
						l.yield()
					}
					l.unlock()
					if i == turns/2 {
						select {
						case baton <- struct{}{}: // the second half of the turns is beside another goroutine
						default:
						}
					}
				}
				select {
				case baton <- struct{}{}:
				default:
				}
			}
		})
	}
	all.Wait()
	if want := hosts*rounds*turns + guests*guestTurns; count != want || l.foreign.Load() != 0 || l.heed.Load() != 0 {
		t.Errorf("%d turns of %d; %d foreign callers, %d wait", count, want, l.foreign.Load(), l.heed.Load())
	}
	if favours == 0 && !racing && b.Fence() {
		t.Error("no goroutine was ever favoured")
	}
}

// A goroutine that calls alone is favoured, one that calls beside another is not for a while, and a favour that foreign callers disturb
// too often ends.
func TestFavourIsWithdrawn(t *testing.T) {
	if racing {
		t.Skip("under the race detector the lock is a mutex")
	}
	var l endpointLock
	l.learn(func() bool { return true })
	calls := func(n int) (favoured int) {
		for range n {
			l.lock()
			if l.held == byFavour {
				favoured++
			}
			l.unlock()
		}
		return favoured
	}
	other := func(n int) (favoured int) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			favoured = calls(n)
		}()
		<-done
		return favoured
	}
	if goroutine.Current() == 0 {
		if got := calls(10 * enoughTurns); got != 0 {
			t.Errorf("favoured %d times without goroutines that can be told apart", got)
		}
		return
	}
	if got := calls(2 * enoughTurns); got < enoughTurns/2 {
		t.Fatalf("favoured %d times of %d", got, 2*enoughTurns)
	}
	if got := other(1); got != 0 {
		t.Error("another goroutine is favoured at once")
	}
	if got := calls(2 * enoughTurns); got != 0 {
		t.Errorf("favoured %d times just after another goroutine", got)
	}
	if got := calls(moreTurns * enoughTurns); got == 0 {
		t.Error("not favoured after many turns")
	}
	for range 2 { // the first may come after enough uses
		l.lockForeign()
		l.unlock()
	}
	if got := calls(1); got != 0 {
		t.Error("still favoured though foreign callers come more often")
	}
	if got := calls(mostTurns + paid + 1); got < paid {
		t.Fatalf("favoured %d times", got)
	}
	other(1)
	if got := calls(2 * enoughTurns); got == 0 {
		t.Error("a favour that has paid counts as one that has not")
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
	if l.held != byFavour {
		t.Error("the caller takes the mutex though nobody else is there")
	}
	l.unlock()
	granted = false
	l.lockForeign()
	l.unlock()
	for range 2 {
		l.lock()
		if l.held == byFavour {
			t.Error("the caller relies on a barrier that there is not")
		}
		l.unlock()
	}
}

// A goroutine that takes the lock in a loop keeps it from nobody: who waits has it after some turns, not after the millisecond that a mutex lets pass.
func TestEndpointLockIsFair(t *testing.T) {
	const times, tries = 200, 3
	late := times
	for range tries { // what else the machine does makes waits long, too, but not each time
		if late = min(late, longWaits(times)); late <= times/4 {
			return
		}
	}
	t.Errorf("%d of %d waits and more lasted for more than %d steps of another goroutine", late, times, longWait)
}

// longWait is how many steps of a goroutine that takes the lock in a loop make the wait of another one long.
const longWait = 100 * 2 * mostBarged

// longWaits counts the long ones among so many waits beside such a goroutine.
func longWaits(times int) (late int) {
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
	for range times {
		for before := turns.Load(); turns.Load() == before; { // the other one is running
			runtime.Gosched()
		}
		before := turns.Load()
		l.lock()
		if turns.Load()-before > longWait {
			late++
		}
		l.unlock()
	}
	over.Store(true)
	<-done
	return late
}
