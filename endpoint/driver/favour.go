package driver

import (
	"runtime"
	"sync/atomic"
	"time"

	"gomx/endpoint/driver/internal/goroutine"
)

// favour is the right to take an endpoint's lock without the mutex. It is granted once, to one goroutine, or in single-threaded
// mode to the program's calls. After it was withdrawn, its goroutine may still write to it, which has no effect.
type favour struct {
	inside uint32  // not 0: the favoured caller has the lock, or is about to check whether it may take it
	to     uintptr // the number of the favoured goroutine; 0: every call of the program is favoured
}

// These constants decide when a goroutine is favoured outside of single-threaded mode. A favour saves two locked instructions each time
// the lock is taken. A locked instruction waits until all earlier stores have reached the memory, messages for peers included.
// Withdrawing a favour costs some thousand times as much.
const (
	enoughTurns = 64      // how often in a row a goroutine takes the mutex before it is favoured
	moreTurns   = 4       // factor by which that number grows after a favour that did not pay
	mostTurns   = 1 << 16 // upper bound of that number
	paid        = 4096    // a favour has paid if it was used this often
	fewUses     = 16      // a favour that is used less often between two foreign callers is withdrawn
)

// regular counts how often the same goroutine takes the lock.
type regular struct {
	who    uintptr // the goroutine that has taken the mutex last
	turns  int     // how often in a row it has taken the mutex
	needed int     // how many turns make a goroutine the favoured one
	uses   int     // how often the favour was used
	seen   int     // value of uses when a foreign caller came last
}

// choose notes that a call of the program has taken the mutex outside of single-threaded mode. It withdraws the favour of another
// goroutine, and grants one to a goroutine that has called often enough.
func (l *endpointLock) choose() {
	g := goroutine.Current()
	switch f := l.favoured.Load(); {
	case f != nil && f.to == g: // a foreign caller is there
	case f != nil:
		l.favoured.Store(nil)
		l.awaitCaller(f)
		l.withdrawn()
	case g != l.regular.who:
		l.regular.who, l.regular.turns = g, 0
	default:
		l.regular.turns++
		if l.regular.turns >= l.regular.needed && l.heed.Load()&wanted == 0 {
			l.grant(g)
		}
	}
}

func (l *endpointLock) grant(g uintptr) {
	if g == 0 || l.unfenced || !l.fence() {
		l.fence = nil
		return
	}
	if l.sampler != nil {
		l.sampler.calls += l.regular.uses
	}
	l.regular = regular{needed: l.regular.needed}
	l.favoured.Store(&favour{to: g})
}

// withdrawn notes that a favour was withdrawn.
func (l *endpointLock) withdrawn() {
	r := &l.regular
	if r.uses >= paid {
		r.needed = enoughTurns
	} else {
		r.needed = min(moreTurns*r.needed, mostTurns)
	}
	r.who, r.turns = 0, 0
}

// visited notes that a foreign caller has the lock, and withdraws a favour that is hardly used between two foreign callers.
func (l *endpointLock) visited(f *favour) {
	if f.to == 0 {
		return
	}
	if r := &l.regular; r.uses-r.seen < fewUses {
		l.favoured.Store(nil)
		l.withdrawn()
	} else {
		r.seen = r.uses
	}
}

// enter takes the lock by a favour, unless there are foreign callers or the favour was withdrawn. lock has tried that for the favour that was
// used last.
func (l *endpointLock) enter(f *favour) bool {
	storeRelease(&f.inside, 1)
	if l.foreign.Load() != 0 || l.favoured.Load() != f {
		storeRelease(&f.inside, 0)
		return false
	}
	l.regular.uses++
	if s := l.sampler; s != nil && s.left > 0 {
		l.held, s.favour = sampled, f
		l.sample()
	} else {
		l.held, l.used = byFavour, f
	}
	return true
}

// awaitCaller waits until the favoured caller does not have the lock without the mutex. The favoured caller can't take it again
// meanwhile, because whoever calls awaitCaller has raised foreign or withdrawn the favour. If the system refuses the barrier, although
// it has granted it before, foreign remains raised, and all callers take the mutex from then on.
func (l *endpointLock) awaitCaller(f *favour) {
	if !l.unfenced && !l.fence() {
		l.unfenced = true
		l.foreign.Add(1)
		time.Sleep(keptStore)
	}
	l.heed.Add(1)
	for looks := 0; atomic.LoadUint32(&f.inside) != 0; looks++ {
		if looks < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond) // the caller may have lost its core
		}
	}
	l.heed.Add(^uint32(0))
}
