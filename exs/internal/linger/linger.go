// Package linger has the system forget TCP connections that are closed, so that nothing of them rests at their port.
package linger

import "syscall"

// None is a net.Dialer's Control: its connections end with a reset, at whatever stage they are closed. What the other side has
// not received then is lost.
func None(_, _ string, c syscall.RawConn) error {
	var err error
	set := func(fd uintptr) {
		err = syscall.SetsockoptLinger(handle(fd), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	}
	if err := c.Control(set); err != nil {
		return err
	}
	return err
}
