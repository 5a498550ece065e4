//go:build linux

package epoll

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Pending is a Set for which a goroutine waits in Go's network poller, so that no thread does. Close ends the wait.
type Pending struct {
	Set
	file *os.File
}

// NewPending makes an empty one.
func NewPending() (*Pending, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // or os takes it for a plain file
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	p := &Pending{Set{fd: fd}, os.NewFile(uintptr(fd), "events")}
	if err := p.file.SetReadDeadline(time.Time{}); err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	return p, nil
}

// Pend waits until there are events, and returns how many, Most at most. 0: the Set was closed. It is for one goroutine
// at a time.
func (p *Pending) Pend() (n int) {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return 0
	}
	// The poller tells of changes only, and forgets at the beginning of a wait those that were before. The Set is
	// asked before the wait as well as after.
	_ = raw.Read(func(uintptr) bool {
		n = p.Take()
		return n > 0
	})
	return n
}

// Close closes the descriptor, and ends the wait. Add must not be called any more.
func (p *Pending) Close() { _ = p.file.Close() }
