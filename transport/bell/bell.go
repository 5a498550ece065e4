//go:build linux

package bell

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"gomx/transport"
	"gomx/transport/internal/segment"
)

var _ transport.Doorbell = (*Bell)(nil)

// Bell is the doorbell of an endpoint, as its owner has it. Arm, Sleep, Pend and
// Disarm are for one goroutine at a time, the sleeper; everything else may be
// called from any, Close included. None of them allocates.
type Bell struct {
	armed atomic.Uint32 // what Arm put into the word; 0 when awake or rung from here

	_      [60]byte // ringers look at armed; keep what the sleeper writes off its line
	page   *segment.Mem
	word   *uint32
	event  int
	fenced bool
	next   uint32 // generation of the next Arm
	all    int    // epoll of event and of what is watched
	pend   pender

	mapped   sync.RWMutex // held for reading by whoever touches page, event or all
	closed   atomic.Bool
	watching atomic.Bool // there is more in all than event
}

// New makes a bell. It begins disarmed.
func New() (*Bell, error) { return newBell(!registered()) }

func newBell(fenced bool) (*Bell, error) {
	page, err := segment.Create("gomx-bell", pageSize)
	if err != nil {
		return nil, err
	}
	event, all, err := openEvents()
	if err != nil {
		_ = page.Close()
		return nil, fmt.Errorf("bell: %w", err)
	}
	writePage(page.Bytes(), fenced)
	return &Bell{page: page, word: word(page), event: event, all: all, fenced: fenced, next: generation}, nil
}

// openEvents makes an eventfd, and an epoll descriptor that has it.
func openEvents() (event, all int, err error) {
	event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return -1, -1, os.NewSyscallError("eventfd", err)
	}
	all, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		_ = unix.Close(event)
		return -1, -1, os.NewSyscallError("epoll_create1", err)
	}
	if err = join(all, event); err != nil {
		_ = unix.Close(event)
		_ = unix.Close(all)
		return -1, -1, err
	}
	return event, all, nil
}

// FDs returns the descriptors that peers attach to. They stay the bell's; pass
// them on while it is open.
func (b *Bell) FDs() (page, event int) { return b.page.FD(), b.event }

// Fenced reports whether peers must fence before they look at the word, because
// this machine lacks the barrier that makes it unnecessary. Ring is slower then.
func (b *Bell) Fenced() bool { return b.fenced }

// Arm says that we are about to sleep. The caller looks for work once more
// afterwards, and sleeps only if there is none.
func (b *Bell) Arm(pollable bool) {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if b.closed.Load() {
		return
	}
	w := b.next | wayFutex
	if pollable || b.watching.Load() {
		w = b.next | wayEvent
	}
	b.next += generation
	atomic.SwapUint32(b.word, w)
	b.armed.Swap(w)
	if !b.fenced {
		barrier()
	}
}

// Disarm says that we look ourselves again: nobody needs to ring.
func (b *Bell) Disarm() {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if b.closed.Load() {
		return
	}
	b.armed.Store(0)
	atomic.StoreUint32(b.word, 0)
}

// Sleep blocks until the armed bell rings or d has passed (d < 0: for ever). It
// returns at once if the bell has rung since Arm, isn't armed or is closed, and
// it may return early.
func (b *Bell) Sleep(d time.Duration) {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	w := b.armed.Load()
	if b.closed.Load() || w == 0 || d == 0 {
		return
	}
	if w&ways == wayFutex {
		if !b.watching.Load() { // else it began since Arm, and might not have seen it
			sleepOn(b.word, w, d)
		}
		return
	}
	b.sleepOnEvent(d)
	if b.watching.Load() {
		drainEvent(b.event)
	}
}

func (b *Bell) sleepOnEvent(d time.Duration) {
	var limit *unix.Timespec
	if d > 0 {
		t := unix.NsecToTimespec(int64(d))
		limit = &t
	}
	poll := [1]unix.PollFd{{Fd: int32(b.all), Events: unix.POLLIN}}
	_, _ = unix.Ppoll(poll[:], limit, nil)
}

// Yield lets other processes have the core, and returns when the caller's turn has come
// again: at once if no other wants it. The scheduler is not told, for nothing blocks.
func (b *Bell) Yield() { yieldCore() }

// Fence has all threads of this process pass a memory barrier before it returns. False: this machine has none.
func (b *Bell) Fence() bool { return ownRegistered() && ownBarrier() }

// Ring wakes the sleeper, if there is one.
func (b *Bell) Ring() {
	if b.fenced || b.armed.Load() != 0 {
		b.ring()
	}
}

func (b *Bell) ring() {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if !b.closed.Load() {
		b.wakeSleeper()
	}
}

func (b *Bell) wakeSleeper() {
	for w := b.armed.Add(0); w != 0; w = b.armed.Load() {
		if b.armed.CompareAndSwap(w, 0) {
			// The wake goes out whatever peers made of the word meanwhile.
			atomic.CompareAndSwapUint32(b.word, w, w|ringing)
			wake(b.word, w, b.event)
			atomic.CompareAndSwapUint32(b.word, w|ringing, 0)
			return
		}
	}
}

func wake(word *uint32, w uint32, event int) {
	if w&wayFutex != 0 {
		wakeAll(word)
	}
	if w&wayEvent != 0 {
		writeEvent(event)
	}
}

// Drain makes FD unreadable again until the next ring. Call it before looking
// for work.
func (b *Bell) Drain() {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if !b.closed.Load() {
		drainEvent(b.event)
	}
}

// Close wakes the sleeper, waits until it has left and gives everything back.
// A second Close does nothing.
func (b *Bell) Close() {
	if b.closed.Swap(true) {
		return
	}
	b.wakeSleeper() // one that arms only now finds the bell closed
	b.mapped.Lock()
	defer b.mapped.Unlock()
	b.armed.Store(0)
	if b.pend.file != nil {
		_ = b.pend.file.Close() // it is all; whoever pends has left afterwards
	} else {
		_ = unix.Close(b.all)
	}
	_ = b.page.Close()
	_ = unix.Close(b.event)
	b.event, b.all = -1, -1
}
