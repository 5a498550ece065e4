//go:build linux

package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// batchSize is how many pieces of memory one call takes.
const batchSize = 64

// Batch is a list of pieces of memory for one system call. The zero value is an
// empty one. It is for one goroutine at a time.
type Batch struct {
	pieces [batchSize]unix.Iovec
	n      int
	bytes  int
	header unix.Msghdr
}

// Add appends b, and reports whether there was a place for it. Empty ones need
// none.
func (s *Batch) Add(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if s.n == batchSize {
		return false
	}
	s.pieces[s.n].Base = unsafe.SliceData(b)
	s.pieces[s.n].SetLen(len(b))
	s.n++
	s.bytes += len(b)
	return true
}

// Len returns the number of bytes in the list.
func (s *Batch) Len() int { return s.bytes }

// Send writes as much of the list as there is room for, and empties it.
func (s *Batch) Send(fd int) (int, Errno) {
	return s.call(unix.SYS_SENDMSG, fd, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// Recv reads what has arrived into the list, and empties it. 0 bytes without
// an error are the peer's end.
func (s *Batch) Recv(fd int) (int, Errno) { return s.call(unix.SYS_RECVMSG, fd, unix.MSG_DONTWAIT) }

func (s *Batch) call(trap uintptr, fd, flags int) (n int, e Errno) {
	s.header.Iov = &s.pieces[0]
	s.header.SetIovlen(s.n)
	for {
		var done uintptr
		done, _, e = unix.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(&s.header)), uintptr(flags))
		if e == 0 {
			n = int(done)
		}
		if e != unix.EINTR {
			break
		}
	}
	clear(s.pieces[:s.n]) // they may hold user memory
	s.n, s.bytes = 0, 0
	return n, e
}
