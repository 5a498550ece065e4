//go:build linux

package segment

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// SendFDs sends msg, at least one byte, and descriptors along with it. They stay
// open here. Deadlines of c apply.
func SendFDs(c *net.UnixConn, msg []byte, fds ...int) error {
	if len(msg) == 0 {
		return errors.New("sending descriptors: they need a message to go with")
	}
	var control []byte
	if len(fds) > 0 {
		control = unix.UnixRights(fds...)
	}
	n, sent, err := c.WriteMsgUnix(msg, control, nil)
	if err != nil {
		return fmt.Errorf("sending %d descriptors: %w", len(fds), err)
	}
	if sent != len(control) {
		return fmt.Errorf("sending %d descriptors: %d of %d bytes of control data went out", len(fds), sent, len(control))
	}
	for n < len(msg) { // the descriptors went with the first part
		more, err := c.Write(msg[n:])
		if err != nil {
			return fmt.Errorf("sending after %d descriptors: %w", len(fds), err)
		}
		n += more
	}
	return nil
}

// RecvFDs receives up to len(buf) bytes and up to limit descriptors, which are
// the caller's to close and carry close-on-exec. On any error, and if there were
// more descriptors or other control data, all that came is closed. Over a stream
// fewer bytes than were sent may come; the descriptors come with the first.
// io.EOF says that the peer has closed, unix.EMFILE that this process may have no more
// descriptors.
func RecvFDs(c *net.UnixConn, buf []byte, limit int) (n int, fds []int, err error) {
	control := make([]byte, unix.CmsgSpace(4*max(limit, 1)))
	n, got, flags, _, err := c.ReadMsgUnix(buf, control)
	return received(n, flags, control[:got], len(buf), limit, err)
}

// ErrNothing says that nothing has come.
var ErrNothing = errors.New("nothing has come")

// TakeFDs is RecvFDs without a wait. Error besides: ErrNothing.
func TakeFDs(c *net.UnixConn, buf []byte, limit int) (n int, fds []int, err error) {
	control := make([]byte, unix.CmsgSpace(4*max(limit, 1)))
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, nil, fmt.Errorf("receiving descriptors: %w", err)
	}
	var got, flags int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, got, flags, _, failed = unix.Recvmsg(int(fd), buf, control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		return true
	})
	switch {
	case err != nil:
	case errors.Is(failed, unix.EAGAIN):
		return 0, nil, ErrNothing
	case failed != nil:
		err = os.NewSyscallError("recvmsg", failed)
	case n == 0:
		err = io.EOF
	}
	return received(max(n, 0), flags, control[:max(got, 0)], len(buf), limit, err)
}

// received checks what has come, and closes the descriptors of what is refused.
func received(n, flags int, control []byte, room, limit int, err error) (int, []int, error) {
	fds, odd := descriptors(control)
	switch {
	case err != nil:
	case odd != nil:
		err = odd
	case flags&unix.MSG_CTRUNC != 0 && len(fds) < limit: // there was place for them in control
		err = fmt.Errorf("%d came, for the others there was no room: %w", len(fds), unix.EMFILE)
	case flags&unix.MSG_CTRUNC != 0 || len(fds) > limit:
		err = fmt.Errorf("more than the %d descriptors expected", limit)
	case flags&unix.MSG_TRUNC != 0:
		err = fmt.Errorf("message longer than %d bytes", room)
	}
	if err != nil {
		closeAll(fds)
		return 0, nil, fmt.Errorf("receiving descriptors: %w", err)
	}
	return n, fds, nil
}

// descriptors returns all descriptors in the control data, also beside an error,
// so that they can be closed.
func descriptors(control []byte) (fds []int, odd error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, os.NewSyscallError("parsing control data", err)
	}
	for i := range messages {
		some, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			odd = fmt.Errorf("control data of type %d, not descriptors", messages[i].Header.Type)
			continue
		}
		fds = append(fds, some...)
	}
	return fds, odd
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// PeerCred returns who opened the other end of c: the process as it is called in
// our pid namespace (0 if it has no number there) and its user id.
func PeerCred(c *net.UnixConn) (pid int, uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, fmt.Errorf("peer credentials: %w", err)
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, os.NewSyscallError("getsockopt SO_PEERCRED", failed)); err != nil {
		return 0, 0, fmt.Errorf("peer credentials: %w", err)
	}
	return int(cred.Pid), cred.Uid, nil
}
