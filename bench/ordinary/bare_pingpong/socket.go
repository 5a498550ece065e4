//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socketEnd is a connected socket that never blocks.
type socketEnd int

// sockets makes both ends of a connection over the loopback interface.
func sockets() (here, there socketEnd, err error) {
	listener, err := newSocket()
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(listener)
	if err := unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, 0, fmt.Errorf("binding to the loopback address: %w", err)
	}
	if err := unix.Listen(listener, 1); err != nil {
		return 0, 0, fmt.Errorf("listening: %w", err)
	}
	address, err := unix.Getsockname(listener)
	if err != nil {
		return 0, 0, fmt.Errorf("asking for the port: %w", err)
	}
	dialled, err := newSocket()
	if err != nil {
		return 0, 0, err
	}
	if err := unix.Connect(dialled, address); err != nil {
		return 0, 0, fmt.Errorf("connecting: %w", err)
	}
	accepted, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
	if err != nil {
		return 0, 0, fmt.Errorf("accepting: %w", err)
	}
	return socketEnd(dialled), socketEnd(accepted), errors.Join(tune(dialled), tune(accepted))
}

func newSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("making a socket: %w", err)
	}
	return fd, nil
}

func tune(fd int) error {
	return errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), unix.SetNonblock(fd, true))
}

func (s socketEnd) send(b []byte) error { return s.transfer(unix.SYS_SENDTO, b, unix.MSG_NOSIGNAL) }

func (s socketEnd) recv(b []byte) error { return s.transfer(unix.SYS_RECVFROM, b, 0) }

// transfer makes system calls until all bytes are moved. Go's scheduler is not told of them, for they don't block.
func (s socketEnd) transfer(call uintptr, b []byte, flags uintptr) error {
	for len(b) > 0 {
		n, _, errno := unix.RawSyscall6(call, uintptr(s), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
		switch {
		case errno == unix.EAGAIN || errno == unix.EINTR:
		case errno != 0:
			return errno
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			b = b[n:]
		}
	}
	return nil
}
