package hungup

import (
	"errors"
	"net"
	"os"
	"time"
)

// Within is By after a while, or sooner if the other side has ended c by then: a process that ends takes its connections along one after
// the other.
func Within(c *net.TCPConn, while time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(while))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	return By(c)
}
