package driver

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// gate is the lock of an endpoint.
//
// Where one goroutine at a time makes the calls, their lock costs a store and a load, and who comes now and then
// pays: guests, which are the endpoint's own goroutines and the calls that any goroutine may make. The caller says
// that it is inside, and then looks for guests; a guest says that it is there, has all threads of the process
// pass a barrier, and then looks for the caller. Whatever the order, one of them sees the other: if the
// caller is before the barrier when it looks for guests, what it has said is to be seen behind the
// barrier. A caller that sees a guest takes the mutex, which guests have among themselves.
type gate struct {
	mu     sync.Mutex
	heed   atomic.Uint32 // what whoever polls with the lock looks at between two polls
	guests atomic.Int32  // that wait, or have it

	lone     bool        // one goroutine at a time makes the calls
	fence    func() bool // the barrier
	unfenced bool        // which has failed; under mu
	inside   uint32      // the caller has it without the mutex, or is about to
	held     hold        // under the lock
	promised bool        // that one goroutine at a time makes the calls: for the race detector
	barged   int         // how often the lock was let go since it was wanted, and taken by others than who waits; under the lock
}

// What heed says: how many goroutines wait for the lock, for whom the poller lets go for a moment, and what else there is to see.
const (
	wanted   = 1<<16 - 1
	clockDue = 1 << 16 // nobody has read the clock for guardEvery
	look     = 1 << 17 // somebody's wait has been given up
)

// keptStore is longer than any processor keeps to itself what it was told to store.
const keptStore = 10 * time.Millisecond

// hold is how somebody has the lock.
type hold uint8

const (
	byMutex hold = iota
	byWord       // the lone caller
	asGuest
)

// reserve makes the gate one of a lone caller, if there is a barrier. Nobody uses the gate yet.
func (g *gate) reserve(fence func() bool) {
	g.promised = true
	if !racing && fence() {
		g.lone, g.fence = true, fence
	}
}

// share ends that. It comes from the lone caller, before others call.
func (g *gate) share() {
	if !g.promised {
		return // others may call by now
	}
	g.promised = false
	if !g.lone {
		return
	}
	g.guest()
	defer g.unlock()
	g.lone = false
}

// lock is for the calls of the program.
func (g *gate) lock() {
	if !g.lone || !g.enter() {
		g.queue()
	}
}

// errTwoCallers is what a caller panics with who meets another one.
var errTwoCallers = errors.New("mx: two goroutines call an endpoint at the same time, though mx.SingleThreaded (mpi: a ThreadLevel below ThreadMultiple) promises " +
	"that they don't. Keep their calls in order with a channel or a mutex, or open the endpoint without that promise; go run -race shows both calls")

// enter takes the lock without the mutex unless there are guests.
func (g *gate) enter() bool {
	say(&g.inside, 1)
	if g.guests.Load() == 0 {
		g.held = byWord
		return true
	}
	say(&g.inside, 0)
	return false
}

// rest waits on a condition of the mutex. Only a guest does, so that meanwhile no caller has the lock without it.
func (g *gate) rest(c *sync.Cond) {
	g.held = byMutex
	c.Wait()
	g.held = asGuest
}

// queue takes the mutex for a caller.
func (g *gate) queue() {
	if racing && g.promised {
		g.promised = true // a write that races with those of calls at the same time
	}
	g.acquire()
}

func (g *gate) acquire() {
	if !g.mu.TryLock() {
		g.line()
	}
}

// line waits for the mutex.
func (g *gate) line() {
	g.heed.Add(1)
	g.mu.Lock()
	g.heed.Add(^uint32(0))
}

// guest is lock for everybody else.
func (g *gate) guest() {
	g.guests.Add(1)
	g.acquire()
	if g.lone && !g.unfenced {
		g.meetCaller()
	}
	g.held = asGuest
}

// meetCaller waits until the lone caller is not inside without the mutex. A machine that refuses the barrier, which it had
// when the endpoint was opened, gets a guest who stays: the caller takes the mutex for ever.
func (g *gate) meetCaller() {
	if !g.fence() {
		g.unfenced = true
		g.guests.Add(1)
		time.Sleep(keptStore)
	}
	g.heed.Add(1)
	for looks := 0; atomic.LoadUint32(&g.inside) != 0; looks++ {
		if looks < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond) // it may have lost its core
		}
	}
	g.heed.Add(^uint32(0))
}

func (g *gate) unlock() {
	if g.held == byWord {
		g.held = byMutex
		say(&g.inside, 0)
		return
	}
	g.release()
}

func (g *gate) release() {
	if g.held == byMutex && !g.lone && g.heed.Load()&wanted == 0 {
		g.mu.Unlock()
		return
	}
	g.handOn()
}

// mostBarged is how often goroutines that come take the lock before those that wait. That is quicker than to let
// them have it each time, and the mutex itself sees to them only after a millisecond.
const mostBarged = 16

// handOn lets go of the mutex where there are guests, or somebody waits for it.
func (g *gate) handOn() {
	guest, give := g.held == asGuest, false
	if g.heed.Load()&wanted != 0 {
		if g.barged++; g.barged == mostBarged {
			g.barged, give = 0, true
		}
	}
	if g.lone && g.mu.TryLock() { // who comes here has the mutex, unless another caller has changed held meanwhile
		g.mu.Unlock()
		panic(errTwoCallers)
	}
	g.held = byMutex
	g.mu.Unlock()
	if guest {
		g.guests.Add(-1)
	}
	if give {
		runtime.Gosched() // who was woken runs next, on this processor
	}
}

// outside runs f without the lock, and takes it again as it was held.
func (g *gate) outside(f func()) {
	guest := g.held == asGuest
	g.unlock()
	f()
	if guest {
		g.guest()
	} else {
		g.lock()
	}
}

// yield lets callers that want the lock have it.
func (g *gate) yield() {
	g.outside(func() {
		runtime.Gosched()
		for i := 0; i < 1000 && g.heed.Load()&wanted != 0; i++ {
			runtime.Gosched()
		}
	})
}
