package driver

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gomx/endpoint/driver/internal/goroutine"
)

// endpointLock is the lock of an endpoint. It is biased towards a favoured caller: in single-threaded mode the program's calls, of
// which there is one at a time, and otherwise the goroutine that has made many calls while no other goroutine made one. The favoured
// caller takes the lock with a store and a load. Foreign callers, which are the endpoint's own goroutines and the calls that any
// goroutine may make, are rare and pay more. Another goroutine of the program pays more, too, and ends the favour; see favour.go.
//
// The favoured caller sets inside, and then checks that there is no foreign caller and that the favour was not withdrawn. A foreign
// caller adds itself to foreign, and another goroutine withdraws the favour. Then each of them makes all threads of the process pass
// a barrier, and looks at inside. In every order one side sees the other: if the favoured caller checks before the barrier, its store
// to inside is visible after the barrier. If it finds that it may not enter, it takes the mutex, which all other callers take.
type endpointLock struct {
	mu       sync.Mutex
	heed     atomic.Uint32          // the caller that polls with the lock loads it between two polls
	foreign  atomic.Int32           // foreign callers that wait for the lock, or have it
	favoured atomic.Pointer[favour] // nil: all take the mutex; changed by holders of the mutex

	single   bool        // single-threaded mode: one goroutine at a time makes the calls
	fence    func() bool // the barrier, or nil if there is none
	unfenced bool        // the barrier has failed; under mu
	declared bool        // one goroutine at a time makes the calls, the program says: for the race detector, which forgets words that are used a lot
	used     *favour     // the favour by which the lock was taken last, or nil while calls are sampled; under the lock
	held     hold        // how the lock is held now; under the lock
	timed    bool        // the call that holds it is timed; under the lock
	barged   int32       // how often other goroutines have taken the lock while one waits for it; under the lock
	sampler  *sampler    // nil: calls are not sampled
	regular  regular     // under the lock
}

// The bits of heed: the number of goroutines that wait for the lock, to which the poller yields it, and two flags.
const (
	wanted   = 1<<16 - 1
	clockDue = 1 << 16 // the clock was not read for guardEvery
	look     = 1 << 17 // a wait has ended early
)

// keptStore is longer than a store stays in a processor's store buffer.
const keptStore = 10 * time.Millisecond

// hold is the way in which the lock is held.
type hold uint8

const (
	byMutex hold = iota
	byFavour
	asForeign
	sampled // by the favour that the sampler knows
)

// reserve turns single-threaded mode on, if there is a barrier. It is called before the lock is used.
func (l *endpointLock) reserve(fence func() bool) {
	l.declared = true
	if l.learn(fence); !racing && fence() {
		l.single = true
		l.favoured.Store(&favour{})
	}
}

// learn makes the lock find out which goroutine to favour. It is called before the lock is used.
func (l *endpointLock) learn(fence func() bool) {
	if !racing { // the race detector does not know the barrier
		l.fence, l.regular.needed = fence, enoughTurns
	}
}

// share turns single-threaded mode off. The single caller calls it, before others call.
func (l *endpointLock) share() {
	if !l.declared {
		return // others may call by now
	}
	l.declared = false
	if !l.single {
		return
	}
	l.lockForeign()
	defer l.unlock()
	l.single = false
	l.favoured.Store(nil)
}

// lock takes the lock for a call of the program.
func (l *endpointLock) lock() {
	if f := l.favoured.Load(); f != nil && (f.to == 0 || f.to == goroutine.Current()) {
		storeRelease(&f.inside, 1)
		if l.foreign.Load() == 0 && l.favoured.Load() == f && l.used == f {
			l.held = byFavour
			l.regular.uses++
			return
		}
		storeRelease(&f.inside, 0)
	}
	l.queue()
}

// errTwoCallers is the panic of a caller that finds another one in single-threaded mode.
var errTwoCallers = errors.New("mx: two goroutines call an endpoint at the same time, though mx.SingleThreaded (mpi: a ThreadLevel below ThreadMultiple) promises " +
	"that they don't. Keep their calls in order with a channel or a mutex, or open the endpoint without that promise; go run -race shows both calls")

// waitCond waits on a condition of the mutex. Only a foreign caller may call it, so that no caller has the lock without the mutex meanwhile.
func (l *endpointLock) waitCond(c *sync.Cond) {
	l.held = byMutex
	c.Wait()
	l.held = asForeign
}

// queue takes the lock by the mutex, unless the caller is favoured and no favour was used before, or calls are sampled.
func (l *endpointLock) queue() {
	if f := l.favoured.Load(); f != nil && (f.to == 0 || f.to == goroutine.Current()) && l.enter(f) {
		return
	}
	if racing && l.declared {
		l.declared = true // the race detector reports this write if another goroutine calls at the same time
	}
	l.acquire()
	if l.fence != nil && !l.single {
		l.choose()
	}
	l.sample()
}

func (l *endpointLock) acquire() {
	if !l.mu.TryLock() {
		l.line()
	}
}

// line waits for the mutex, and asks the poller to yield it.
func (l *endpointLock) line() {
	l.heed.Add(1)
	l.mu.Lock()
	l.heed.Add(^uint32(0))
}

// lockForeign takes the lock for a foreign caller.
func (l *endpointLock) lockForeign() {
	l.foreign.Add(1)
	l.acquire()
	if f := l.favoured.Load(); f != nil && !l.unfenced {
		l.awaitCaller(f)
		l.visited(f)
	}
	l.held = asForeign
}

// visit takes the lock for a call that any goroutine may make, and that waits for nothing while it has it.
func (l *endpointLock) visit() {
	if f := l.favoured.Load(); f == nil || f.to == 0 || f.to != goroutine.Current() || !l.enter(f) {
		l.lockForeign()
	}
}

func (l *endpointLock) unlock() {
	if l.held == byFavour {
		l.held = byMutex
		storeRelease(&l.used.inside, 0)
		return
	}
	l.release()
}

func (l *endpointLock) release() {
	if l.timed {
		l.timed = false
		l.sampler.end()
	}
	if l.held == sampled {
		l.held = byMutex
		storeRelease(&l.sampler.favour.inside, 0)
		return
	}
	if l.held == byMutex && !l.single && l.heed.Load()&wanted == 0 {
		l.mu.Unlock()
		return
	}
	l.handOn()
}

// mostBarged bounds how often other goroutines take the lock before one that waits for it. Letting them barge is quicker
// than handing the lock over each time. The mutex itself hands it over only after a millisecond.
const mostBarged = 16

// handOn releases the mutex if there are foreign callers, or if a goroutine waits for it.
func (l *endpointLock) handOn() {
	foreign, give := l.held == asForeign, false
	if l.heed.Load()&wanted != 0 {
		if l.barged++; l.barged == mostBarged {
			l.barged, give = 0, true
		}
	}
	if l.single && l.mu.TryLock() { // the mutex is held here, unless another caller has changed held meanwhile
		l.mu.Unlock()
		panic(errTwoCallers)
	}
	l.held = byMutex
	l.mu.Unlock()
	if foreign {
		l.foreign.Add(-1)
	}
	if give {
		runtime.Gosched() // the goroutine that was woken runs next, on this processor
	}
}

// outside runs f without the lock, and takes it again as it was held.
func (l *endpointLock) outside(f func()) {
	foreign, since := l.held == asForeign, l.pauseTiming()
	l.unlock()
	f()
	if foreign {
		l.lockForeign()
	} else {
		l.lock()
		l.resumeTiming(since)
	}
}

// yield lets the callers that wait for the lock take it.
func (l *endpointLock) yield() {
	l.outside(func() {
		runtime.Gosched()
		for i := 0; i < 1000 && l.heed.Load()&wanted != 0; i++ {
			runtime.Gosched()
		}
	})
}
