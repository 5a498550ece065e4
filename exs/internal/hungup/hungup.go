//go:build !windows

// Package hungup looks whether the other side of a TCP connection has ended it.
package hungup

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// By reports whether the other side has closed c, or says something, where nothing more is to be said. It asks the system once and does not
// wait: with a deadline a busy machine would let that pass before it has looked. It takes c's deadline for reading away.
func By(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	_ = c.SetReadDeadline(time.Time{})
	gone := true
	look := func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), make([]byte, 1))
		gone = !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
		return true
	}
	if err := raw.Read(look); err != nil {
		return true
	}
	return gone
}
