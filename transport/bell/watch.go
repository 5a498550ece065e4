//go:build linux

package bell

import (
	"fmt"
	"os"

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
	b.wakeSleeper() // one on the futex would not see fd
	return nil
}

// FD returns the descriptor that becomes readable when the bell, armed as
// pollable, rings, or something watched is readable. It is the bell's: read it
// only through Drain.
func (b *Bell) FD() (int, error) {
	b.mapped.RLock()
	defer b.mapped.RUnlock()
	if b.closed.Load() {
		return -1, fmt.Errorf("doorbell: %w", transport.ErrClosed)
	}
	return b.all, nil
}

// join adds fd to an epoll descriptor.
func join(all, fd int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(all, unix.EPOLL_CTL_ADD, fd, &event))
}
