// Package hungup looks whether the other side of a TCP connection has ended it.
package hungup

import (
	"errors"
	"net"
	"os"
	"time"
)

// By reports whether the other side has closed c, or says something, where nothing more is to be said. It takes c's deadline for
// reading away.
func By(c *net.TCPConn) bool {
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	_ = c.SetReadDeadline(time.Time{})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}
