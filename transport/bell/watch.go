//go:build linux

package bell

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"gomx/transport"
)

// Watch has Sleep and Pend end, and FD become readable, when fd becomes readable as
// well. A bell that watches wakes through descriptors, which takes a little longer
// than the futex. The descriptor must stay open until nobody sleeps on the bell any
// more. Safe from any goroutine.
func (b *Bell) Watch(fd int) error {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if b.closed.Load() {
		return fmt.Errorf("doorbell: %w", transport.ErrClosed)
	}
	if err := join(b.all, fd); err != nil {
		return fmt.Errorf("doorbell: %w", err)
	}
	b.watching.Store(true)
	alarms.expect(b)
	b.wakeSleeper() // one on the futex would not see fd
	return nil
}

// FD returns the descriptor that becomes readable when the bell, armed as
// pollable, rings, or something watched is readable, or after a while in which peers
// might have kept others from ringing. It is the bell's: read it only through Drain.
func (b *Bell) FD() (int, error) {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if b.closed.Load() {
		return -1, fmt.Errorf("doorbell: %w", transport.ErrClosed)
	}
	if err := b.startTicking(); err != nil {
		return -1, fmt.Errorf("doorbell: %w", err)
	}
	return b.all, nil
}

// startTicking makes the timer that does for a sleeper on FD what bound does for
// others, if there is none.
func (b *Bell) startTicking() error {
	if b.tick.Load() >= 0 {
		return nil
	}
	tick, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("timerfd_create", err)
	}
	if err := join(b.all, tick); err != nil {
		_ = unix.Close(tick)
		return err
	}
	if !b.tick.CompareAndSwap(-1, int32(tick)) {
		_ = unix.Close(tick) // another one was first
	}
	return nil
}

// bound is how long anybody sleeps at most on a word that peers can write: a peer that
// writes 0 takes away the wake-ups of all the others. Waking ten times as often, and spinning after each wake-up, costs
// a process that only waits 4 % of a core, and this 0.4 %.
const bound = 500 * time.Millisecond

// within returns how long to sleep for a caller who wants d.
func (b *Bell) within(d time.Duration) time.Duration {
	if b.shared.Load() && (d < 0 || d > bound) {
		return bound
	}
	return d
}

// Drain makes FD unreadable again until the next ring. Call it before looking
// for work.
func (b *Bell) Drain() {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if b.closed.Load() {
		return
	}
	const most = 64 // so that a peer that rings all the time can't keep us here
	for i := 0; i < most && b.takeReady(); i++ {
	}
}

// fds is how many descriptors of its own a bell may find readable.
const fds = 4

// takeReady takes what is there without waiting, and reports whether there was any of
// what the bell itself is rung with.
func (b *Bell) takeReady() bool {
	var events [fds]unix.EpollEvent
	return b.take(events[:ready(b.all, events[:])])
}

// take makes unreadable what the bell itself is rung with; of the post one datagram at
// a time, since there is seldom another. What is watched is for others to read.
func (b *Bell) take(events []unix.EpollEvent) (any bool) {
	for i := range events {
		switch fd := int(events[i].Fd); {
		case fd == b.post.fd:
			var datagram [secretSize]byte
			take(fd, datagram[:])
			any = true
		case fd == b.event || fd == int(b.tick.Load()):
			drainEvent(fd)
			any = true
		}
	}
	return any
}

// join adds fd to an epoll descriptor.
func join(all, fd int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(all, unix.EPOLL_CTL_ADD, fd, &event))
}
