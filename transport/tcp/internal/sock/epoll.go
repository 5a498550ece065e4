//go:build linux

package sock

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event says what has happened on the socket that was added under Key.
type Event struct {
	Key      int32
	Readable bool // something to read, an end included
	Writable bool
	Ended    bool // the peer sends no more, or the connection is broken
}

// Epoll tells of changes on sockets, each once. It is for one goroutine at a
// time, but for Close.
type Epoll struct {
	fd     int
	events [64]unix.EpollEvent
}

// NewEpoll makes an empty one.
func NewEpoll() (*Epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	return &Epoll{fd: fd}, nil
}

// FD returns the descriptor, which is readable while there are events to take.
func (e *Epoll) FD() int { return e.fd }

// Close closes the descriptor.
func (e *Epoll) Close() { _ = unix.Close(e.fd) }

// Add adds a socket under a key.
func (e *Epoll) Add(fd int, key int32) error {
	edges := uint32(unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP)
	event := unix.EpollEvent{Events: edges | unix.EPOLLET, Fd: key}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, fd, &event))
}

// Remove takes a socket out. No event of it comes any more.
func (e *Epoll) Remove(fd int) { _ = unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// Take waits for nothing and returns how many events there are, Most at most.
func (e *Epoll) Take() int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(e.fd), uintptr(unsafe.Pointer(&e.events)),
		uintptr(len(e.events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Most is how many events one Take returns at most.
const Most = 64

// Event returns one of those that Take has counted.
func (e *Epoll) Event(i int) Event {
	v := &e.events[i]
	const ended = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	return Event{
		Key:      v.Fd,
		Readable: v.Events&(unix.EPOLLIN|ended) != 0,
		Writable: v.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0,
		Ended:    v.Events&ended != 0,
	}
}
