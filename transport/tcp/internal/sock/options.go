//go:build linux

package sock

import (
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Options of a connection.
type Options struct {
	// KeepAlive bounds how long a peer that has vanished goes unnoticed, whole
	// seconds, at least 3.
	KeepAlive time.Duration
	// Send and Receive are sizes of buffers, bytes; 0 leaves them to the system.
	Send, Receive int
}

// Set applies o to a connection. It is for the time before the descriptor is taken.
func (o Options) Set(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var setErr error
	err = raw.Control(func(fd uintptr) { setErr = o.set(int(fd)) })
	if err != nil {
		return err
	}
	return os.NewSyscallError("setsockopt", setErr)
}

type option struct{ level, name, value int }

func (o Options) set(fd int) error {
	// The first probe after half the time, the last and the wait for its answer
	// before the end of it. What was sent and is not confirmed has the same bound.
	const probes = 3
	seconds := int(o.KeepAlive / time.Second)
	idle := seconds / 2
	interval := max(1, (seconds-idle)/(probes+1))
	all := []option{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, idle},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, interval},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, probes},
		{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, seconds * 1000},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
	}
	if o.Send > 0 {
		all = append(all, option{unix.SOL_SOCKET, unix.SO_SNDBUF, o.Send})
	}
	if o.Receive > 0 {
		all = append(all, option{unix.SOL_SOCKET, unix.SO_RCVBUF, o.Receive})
	}
	for _, s := range all {
		if err := unix.SetsockoptInt(fd, s.level, s.name, s.value); err != nil {
			return err
		}
	}
	return nil
}
