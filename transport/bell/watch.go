//go:build linux

package bell

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"gomx/transport"
)

// Watch has Sleep end, and FD become readable, when fd becomes readable as well.
// A bell that watches wakes through its eventfd, which takes a little longer than
// the futex. The descriptor must stay open until nobody sleeps on the bell any
// more. Safe from any goroutine.
func (b *Bell) Watch(fd int) error {
	b.watching.Store(true)
	b.lockOut() // a sleeper would not see fd
	defer b.mapped.Unlock()
	if b.closed.Load() {
		return fmt.Errorf("doorbell: %w", transport.ErrClosed)
	}
	b.poll = append(b.poll, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	if b.outer < 0 {
		return nil
	}
	return join(b.outer, fd)
}

// FD returns the descriptor that becomes readable when the bell, armed as
// pollable, rings, or something watched is readable. It is the bell's: read it
// only through Drain.
func (b *Bell) FD() (int, error) {
	if fd := b.known(); fd >= 0 {
		return fd, nil
	}
	b.lockOut()
	defer b.mapped.Unlock()
	if b.closed.Load() {
		return -1, fmt.Errorf("doorbell: %w", transport.ErrClosed)
	}
	if b.outer >= 0 {
		return b.outer, nil
	}
	outer, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("doorbell: %w", os.NewSyscallError("epoll_create1", err))
	}
	for _, p := range b.poll {
		if err := join(outer, int(p.Fd)); err != nil {
			_ = unix.Close(outer)
			return -1, err
		}
	}
	b.outer = outer
	return outer, nil
}

// known returns what FD has made before, or -1.
func (b *Bell) known() int {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	return b.outer
}

// lockOut takes the lock from a sleeper. He sleeps with it, so he is woken, and one
// who has armed the bell since sees that he is not wanted: he arms before he looks
// at wanted, and here it is set before looking whether the bell is armed.
func (b *Bell) lockOut() {
	b.wanted.Add(1)
	b.wakeSleeper()
	b.mapped.Lock()
	b.wanted.Add(-1)
}

// join adds fd to an epoll descriptor.
func join(outer, fd int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	if err := unix.EpollCtl(outer, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("doorbell: %w", os.NewSyscallError("epoll_ctl", err))
	}
	return nil
}
