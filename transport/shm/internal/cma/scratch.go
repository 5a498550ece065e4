//go:build linux

package cma

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"gomx/transport/wire"
)

// ErrShort means that source or destination hold fewer bytes than are to be copied.
var ErrShort = errors.New("fewer bytes than to be copied")

// vectors is how many segments go into one system call, at most. Linux takes 1024.
const vectors = 256

// Remote is a piece of another process's memory.
type Remote struct {
	Addr uint64
	Len  uint32
}

// Scratch holds what the copies need between calls, so that they allocate
// nothing. The zero value is ready. Not for concurrent use.
type Scratch struct {
	local  []unix.Iovec
	remote []unix.RemoteIovec
	parsed []Remote
}

type direction uint8

const (
	reading direction = iota
	writing
)

func (d direction) String() string {
	if d == reading {
		return "process_vm_readv"
	}
	return "process_vm_writev"
}

// Read copies the first n bytes of src, in process pid, to the front of dst. The
// segments of the two may be cut differently. It returns how many bytes were
// copied; fewer than n only beside an error, which wraps the errno.
func (s *Scratch) Read(pid int, dst *wire.Vec, src []Remote, n int) (int, error) {
	return s.ReadAt(pid, dst, src, 0, n)
}

// ReadAt is Read for the n bytes that begin at off, of src as of dst.
func (s *Scratch) ReadAt(pid int, dst *wire.Vec, src []Remote, off, n int) (int, error) {
	return s.copy(reading, pid, dst, src, off, n)
}

// Write copies the first n bytes of src to the front of dst, in process pid,
// otherwise like Read.
func (s *Scratch) Write(pid int, dst []Remote, src *wire.Vec, n int) (int, error) {
	return s.copy(writing, pid, src, dst, 0, n)
}

func (s *Scratch) copy(d direction, pid int, local *wire.Vec, remote []Remote, off, n int) (int, error) {
	if off < 0 || n < 0 || local.Len()-off < n || total(remote) < uint64(off)+uint64(n) {
		return 0, fmt.Errorf("%v of %d bytes at %d: %w (%d here, %d there)", d, n, off, ErrShort, local.Len(), total(remote))
	}
	var here, there cursor
	for done, moved := 0, off; done < n; {
		here.advance(moved, func(i int) int { return len(local.Segment(i)) })
		there.advance(moved, func(i int) int { return int(remote[i].Len) })
		s.fillLocal(local, here, n-done)
		s.fillRemote(remote, there, n-done)
		var err error
		moved, err = s.call(d, pid)
		if err == nil && moved <= 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return done, fmt.Errorf("%v of process %d after %d of %d bytes: %w", d, pid, done, n, err)
		}
		done += moved
	}
	return n, nil
}

// call makes one system call. In a process with one processor of Go's, that of a rank which is bound to a core, it does not give
// that processor to others meanwhile: after 20 us in the call they would get it on another thread, which takes the core from the
// copy. The whole process stands still then for as long as the kernel takes, also if it has to read the peer's memory from a disk.
func (s *Scratch) call(d direction, pid int) (n int, err error) {
	if runtime.GOMAXPROCS(0) == 1 {
		n, err = s.callAlone(d, pid)
	} else if d == reading {
		n, err = unix.ProcessVMReadv(pid, s.local, s.remote, 0)
	} else {
		n, err = unix.ProcessVMWritev(pid, s.local, s.remote, 0)
	}
	clear(s.local) // keep nobody's buffers alive
	return n, err
}

// callAlone is call without giving up the processor.
func (s *Scratch) callAlone(d direction, pid int) (n int, err error) {
	number := uintptr(unix.SYS_PROCESS_VM_READV)
	if d == writing {
		number = unix.SYS_PROCESS_VM_WRITEV
	}
	copied, _, errno := unix.RawSyscall6(number, uintptr(pid),
		uintptr(unsafe.Pointer(unsafe.SliceData(s.local))), uintptr(len(s.local)),
		uintptr(unsafe.Pointer(unsafe.SliceData(s.remote))), uintptr(len(s.remote)), 0)
	if errno != 0 {
		return 0, errno
	}
	return int(copied), nil
}

// cursor is a place in a list of segments.
type cursor struct{ segment, offset int }

func (c *cursor) advance(n int, length func(i int) int) {
	c.offset += n
	for n > 0 && c.offset >= length(c.segment) {
		c.offset -= length(c.segment)
		c.segment++
		n = c.offset
	}
}

// fillLocal puts up to n bytes from the cursor on into the local vector. Empty
// segments are left out.
func (s *Scratch) fillLocal(v *wire.Vec, at cursor, n int) {
	s.local = s.local[:0]
	for c := at; n > 0 && c.segment < v.Segments() && len(s.local) < vectors; c = (cursor{c.segment + 1, 0}) {
		part := v.Segment(c.segment)[c.offset:]
		part = part[:min(len(part), n)]
		if len(part) == 0 {
			continue
		}
		iov := unix.Iovec{Base: unsafe.SliceData(part)}
		iov.SetLen(len(part))
		s.local = append(s.local, iov)
		n -= len(part)
	}
}

func (s *Scratch) fillRemote(list []Remote, at cursor, n int) {
	s.remote = s.remote[:0]
	for c := at; n > 0 && c.segment < len(list) && len(s.remote) < vectors; c = (cursor{c.segment + 1, 0}) {
		part := list[c.segment]
		length := min(int(part.Len)-c.offset, n)
		if length <= 0 {
			continue
		}
		s.remote = append(s.remote, unix.RemoteIovec{Base: uintptr(part.Addr) + uintptr(c.offset), Len: length})
		n -= length
	}
}

func total(list []Remote) (n uint64) {
	for i := range list {
		n += uint64(list[i].Len)
	}
	return n
}
