//go:build linux

package sock

import (
	"errors"
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Errno is the number of a system call's error; 0 is none.
type Errno = unix.Errno

// Again means that a call would have had to wait.
const Again = unix.EAGAIN

// Take takes the descriptor out of c, which is closed. The Go poller does not
// know it any more.
func Take(c *net.TCPConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	var dupErr error
	err = raw.Control(func(old uintptr) {
		if fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0); dupErr == nil {
			dupErr = unix.SetNonblock(fd, true)
		}
	})
	_ = c.Close()
	if err = errors.Join(err, dupErr); err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return -1, fmt.Errorf("taking a socket: %w", err)
	}
	return fd, nil
}

// Close closes a descriptor of Take.
func Close(fd int) { _ = unix.Close(fd) }

// Recv reads what has arrived. 0 bytes without an error are the peer's end.
func Recv(fd int, b []byte) (int, Errno) {
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
		if e == 0 {
			return int(n), 0
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

// Send writes as much as there is room for.
func Send(fd int, b []byte) (int, Errno) {
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		if e == 0 {
			return int(n), 0
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

// Finish tells the peer that nothing more comes.
func Finish(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) }

// HangUp ends both directions. What has come can still be read.
func HangUp(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RDWR) }

// Unsent returns how many bytes wait in the socket because the peer has no room.
func Unsent(fd int) int { return waiting(fd, unix.SIOCOUTQNSD) }

// Unacknowledged returns how many bytes, the end (FIN) among them, the peer's host has
// not confirmed yet.
func Unacknowledged(fd int) int { return waiting(fd, unix.SIOCOUTQ) }

func waiting(fd int, what uint) int {
	n, err := unix.IoctlGetInt(fd, what)
	if err != nil {
		return 0
	}
	return n
}

// Unread reports whether something has arrived on a connection, not taken yet,
// that was not read.
func Unread(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
	return err == nil && n > 0
}

// Refused reports whether err says that nobody listens there.
func Refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// Broken reports whether err says that the peer has broken the connection off.
func Broken(err error) bool { return errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) }

// InUse reports whether err says that an address is taken.
func InUse(err error) bool { return errors.Is(err, unix.EADDRINUSE) }

// CallError names the call in an error.
func CallError(call string, e Errno) error { return os.NewSyscallError(call, e) }
