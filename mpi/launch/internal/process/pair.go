package process

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pair returns two ends of a connection: one to talk over, and one for a child to inherit.
func Pair() (ours net.Conn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("a pair of sockets: %w", err)
	}
	near := os.NewFile(uintptr(fds[0]), "pmi")
	defer near.Close() // the connection has a duplicate
	theirs = os.NewFile(uintptr(fds[1]), "pmi")
	if ours, err = net.FileConn(near); err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}
