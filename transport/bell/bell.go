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

// Bell is the doorbell of an endpoint, as its owner has it. Arm, Sleep, Pend, Drain
// and Disarm are for one goroutine at a time, the sleeper; everything else may be
// called from any, Close included. None of them allocates.
type Bell struct {
	armed atomic.Uint32 // what Arm put into the word; 0 when awake or rung from here

	_      [60]byte // ringers look at armed; keep what the sleeper writes off its line
	word   *uint32
	event  int    // eventfd that nobody else has
	all    int    // epoll of event, post, tick and what is watched
	next   uint32 // generation of the next Arm
	pend   pender
	fenced atomic.Bool  // Arm has no barrier, so that whoever rings must fence
	shared atomic.Bool  // peers can write the word
	tick   atomic.Int32 // timer that bounds sleeps on FD; -1 until somebody asks for FD

	page   *segment.Mem // nil if no peer can ring
	post   post
	lonely error // why page is nil
	always bool  // fenced for good

	mapped   sync.RWMutex // held for reading by whoever touches page or a descriptor
	closed   atomic.Bool
	watching atomic.Bool // something is watched

	soon soon
}

// New makes a bell. It begins disarmed.
func New() (*Bell, error) { return newBell((*Bell).share) }

func newBell(share func(*Bell) error) (*Bell, error) {
	b := &Bell{next: generation, post: post{fd: -1}}
	b.tick.Store(-1)
	b.fenced.Store(true) // until somebody else needs it otherwise
	var err error
	if b.event, b.all, err = openEvents(); err != nil {
		return nil, fmt.Errorf("bell: %w", err)
	}
	if b.lonely = share(b); b.lonely != nil {
		b.word = new(uint32)
		return b, nil
	}
	go func() { // both take a while; the first is needed when the first peer is there
		registered()
		ownRegistered()
	}()
	return b, nil
}

// share makes what peers need to ring.
func (b *Bell) share() error {
	page, err := segment.Create("gomx-bell", pageSize)
	if err != nil {
		return err
	}
	p, err := openPost()
	if err != nil {
		_ = page.Close()
		return err
	}
	if err := join(b.all, p.fd); err != nil {
		_ = unix.Close(p.fd)
		_ = page.Close()
		return err
	}
	b.page, b.post, b.word = page, p, word(page)
	return nil
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

// Lonely returns nil, or why no other process can ring this bell: the system refuses
// what it takes.
func (b *Bell) Lonely() error { return b.lonely }

// Invite returns the descriptors that one peer attaches to. The page stays the bell's;
// the socket is the caller's to close, once it has been passed on. No two peers may
// get the same one. It may block for the time of a registration with the system.
func (b *Bell) Invite() (page, socket int, err error) {
	if b.lonely != nil {
		return -1, -1, fmt.Errorf("doorbell: %w", b.lonely)
	}
	barriers := !b.always && registered()
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if b.closed.Load() {
		return -1, -1, fmt.Errorf("doorbell: %w", transport.ErrClosed)
	}
	b.shared.Store(true)
	if barriers {
		b.fenced.Store(false)
	}
	b.wakeSleeper() // he may have armed without the barrier, and sleeps without a bound
	socket, err = b.post.invite(!barriers)
	if err != nil {
		return -1, -1, fmt.Errorf("doorbell: %w", err)
	}
	return b.page.FD(), socket, nil
}

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
	before := atomic.SwapUint32(b.word, w)
	b.armed.Swap(w)
	if before == 0 && !b.fenced.Load() { // asked after the word was written: see Invite
		barrier()
	}
	if tick := b.tick.Load(); pollable && tick >= 0 && b.shared.Load() {
		setTimer(int(tick), bound)
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
	if atomic.LoadUint32(b.word)&ways != 0 {
		atomic.StoreUint32(b.word, fencing)
	}
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
	d = b.within(d)
	if w&ways == wayEvent {
		var events [fds]unix.EpollEvent
		b.take(events[:sleepOnEvents(b.all, events[:], d)])
	} else if !b.watching.Load() { // else it began since Arm, and might not have seen it
		sleepOn(b.word, w, d)
	}
}

// Yield lets other processes have the core, and returns when the caller's turn has come
// again: at once if no other wants it. The scheduler is not told, for nothing blocks.
func (b *Bell) Yield() { yieldCore() }

// Fence has all threads of this process pass a memory barrier before it returns. False: this machine has none.
func (b *Bell) Fence() bool { return ownRegistered() && ownBarrier() }

// Ring wakes the sleeper, if there is one.
func (b *Bell) Ring() {
	if b.armed.Add(0) != 0 {
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

// wakeSleeper wakes him whatever peers made of the word meanwhile.
func (b *Bell) wakeSleeper() {
	for w := b.armed.Add(0); w != 0; w = b.armed.Load() {
		if !b.armed.CompareAndSwap(w, 0) {
			continue
		}
		atomic.CompareAndSwapUint32(b.word, w, w|ringing)
		if w&ways == wayFutex {
			wakeAll(b.word)
		} else {
			writeEvent(b.event)
		}
		atomic.CompareAndSwapUint32(b.word, w|ringing, fencing)
		return
	}
}

// Close wakes the sleeper, waits until it has left and gives everything back.
// A second Close does nothing.
func (b *Bell) Close() {
	if b.closed.Swap(true) {
		return
	}
	alarms.leave(b)
	b.wakeSleeper() // one that arms only now finds the bell closed
	b.mapped.Lock()
	defer b.mapped.Unlock()
	b.armed.Store(0)
	if b.pend.file != nil {
		_ = b.pend.file.Close() // it is all; whoever pends has left afterwards
	} else {
		_ = unix.Close(b.all)
	}
	_ = unix.Close(b.event)
	if tick := b.tick.Load(); tick >= 0 {
		_ = unix.Close(int(tick))
	}
	if b.lonely == nil {
		_ = unix.Close(b.post.fd)
		_ = b.page.Close()
	}
}
