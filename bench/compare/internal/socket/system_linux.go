package socket

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inheritedFD is where the first of exec.Cmd's ExtraFiles is found.
const inheritedFD = 3

// conn is a connected socket that never blocks.
type conn int

// Available returns nil, or why there can be no measurement here.
func Available() error { return nil }

// connect makes both ends of a loopback connection.
func connect() (ours, theirs conn, err error) {
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("making a socket: %w", err)
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
	dialled, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("making a socket: %w", err)
	}
	if err := unix.Connect(dialled, address); err != nil {
		return 0, 0, errors.Join(fmt.Errorf("connecting: %w", err), unix.Close(dialled))
	}
	accepted, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
	if err != nil {
		return 0, 0, errors.Join(fmt.Errorf("accepting: %w", err), unix.Close(dialled))
	}
	ours, theirs = conn(dialled), conn(accepted)
	if err := errors.Join(ours.tune(), theirs.tune()); err != nil {
		ours.hangUp()
		theirs.hangUp()
		return 0, 0, err
	}
	return ours, theirs, nil
}

func (c conn) tune() error {
	if err := unix.SetsockoptInt(int(c), unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("turning Nagle's algorithm off: %w", err)
	}
	if err := unix.SetNonblock(int(c), true); err != nil {
		return fmt.Errorf("making a socket non-blocking: %w", err)
	}
	return nil
}

// inherited is the end that startPartner handed over.
func inherited() conn { return conn(inheritedFD) }

// file is the socket for handing over. It owns the descriptor.
func (c conn) file() *os.File { return os.NewFile(uintptr(c), "connection") }

func (c conn) hangUp() { _ = unix.Shutdown(int(c), unix.SHUT_RDWR) }

// write sends all of b. While there is no room it asks again.
func (c conn) write(b []byte) error {
	for len(b) > 0 {
		n, err := transfer(unix.SYS_SENDTO, c, b, unix.MSG_NOSIGNAL)
		if err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		b = b[n:]
	}
	return nil
}

// read fills all of b. While nothing has come it asks again.
func (c conn) read(b []byte) error {
	for len(b) > 0 {
		n, err := transfer(unix.SYS_RECVFROM, c, b, 0)
		if err != nil {
			return fmt.Errorf("reading: %w", err)
		}
		b = b[n:]
	}
	return nil
}

// transfer makes system calls without telling Go's scheduler, for they don't
// block, until one has moved bytes.
func transfer(call uintptr, c conn, b []byte, flags uintptr) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(call, uintptr(c), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
		switch {
		case errno == unix.EAGAIN || errno == unix.EINTR:
		case errno != 0:
			return 0, errno
		case n == 0:
			return 0, io.ErrUnexpectedEOF
		default:
			return int(n), nil
		}
	}
}

func pinThread(core int) error {
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("binding to core %d: %w", core, err)
	}
	return nil
}
