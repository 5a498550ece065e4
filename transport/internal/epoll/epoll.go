//go:build linux

package epoll

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event says what has happened on the descriptor that was added under Key.
type Event struct {
	Key      int32
	Readable bool // something to read, an end included
	Writable bool
	Ended    bool // the peer sends no more, or the connection is broken
}

// Set tells of changes on descriptors, each once. It is for one goroutine at a
// time, but for Close.
type Set struct {
	fd     int
	events [Most]unix.EpollEvent
}

// New makes an empty one.
func New() (*Set, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	return &Set{fd: fd}, nil
}

// FD returns the descriptor, which is readable while there are events to take.
func (s *Set) FD() int { return s.fd }

// Close closes the descriptor.
func (s *Set) Close() { _ = unix.Close(s.fd) }

// Add adds a descriptor under a key.
func (s *Set) Add(fd int, key int32) error {
	edges := uint32(unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP)
	event := unix.EpollEvent{Events: edges | unix.EPOLLET, Fd: key}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(s.fd, unix.EPOLL_CTL_ADD, fd, &event))
}

// Remove takes a descriptor out. No event of it comes any more.
func (s *Set) Remove(fd int) { _ = unix.EpollCtl(s.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// Take waits for nothing and returns how many events there are, Most at most.
func (s *Set) Take() int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(s.fd), uintptr(unsafe.Pointer(&s.events)),
		uintptr(len(s.events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Most is how many events one Take returns at most.
const Most = 64

// Event returns one of those that Take has counted.
func (s *Set) Event(i int) Event {
	v := &s.events[i]
	const ended = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	return Event{
		Key:      v.Fd,
		Readable: v.Events&(unix.EPOLLIN|ended) != 0,
		Writable: v.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0,
		Ended:    v.Events&ended != 0,
	}
}
