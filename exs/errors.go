package exs

import (
	"net/netip"

	"gomx/exs/internal/errno"
)

// Errno is an error number of the system, as events carry it. 0 is success.
type Errno = errno.Errno

// The numbers that calls return and events carry.
const (
	EACCES          = errno.EACCES       // the memory is registered for sending only
	EADDRINUSE      = errno.EADDRINUSE   // another socket has the address
	EAFNOSUPPORT    = errno.EAFNOSUPPORT // no such domain, or an address of another one
	EALREADY        = errno.EALREADY     // a connect is under way, or Init was called before
	EBADF           = errno.EBADF        // the socket is closed
	EBUSY           = errno.EBUSY        // no credit; operations outstanding; a shutdown is under way
	ECANCELED       = errno.ECANCELED    // the operation was cancelled, or the library or listener was closed
	ECONNREFUSED    = errno.ECONNREFUSED // nobody listens there
	ECONNRESET      = errno.ECONNRESET   // the peer died or closed without lingering
	EDESTADDRREQ    = errno.EDESTADDRREQ // listen without an address
	EFAULT          = errno.EFAULT       // the buffer is not within the registered memory
	EHOSTUNREACH    = errno.EHOSTUNREACH // the listener answers, and no transport reaches its endpoint
	EINVAL          = errno.EINVAL       // a bad argument, or the call does not fit the state
	EIO             = errno.EIO          // a file could not be read
	EISCONN         = errno.EISCONN      // the socket is connected already
	EMFILE          = errno.EMFILE       // the process can open no more files
	EMSGSIZE        = errno.EMSGSIZE     // more bytes, or more pieces, than a message can have
	ENETDOWN        = errno.ENETDOWN     // the endpoint could not be opened, or the library is closed
	ENFILE          = errno.ENFILE       // the system can open no more files
	ENOBUFS         = errno.ENOBUFS      // no resources for a registration
	ENOTCONN        = errno.ENOTCONN     // the socket was never connected
	EOPNOTSUPP      = errno.EOPNOTSUPP   // not with this socket
	EPIPE           = errno.EPIPE        // the connection is shut down for sending
	EPROTO          = errno.EPROTO       // the other side is no EXS, or one of another version or type
	EPROTONOSUPPORT = errno.EPROTONOSUPP // no such protocol
	ESOCKTNOSUPPORT = errno.ESOCKTNOSUPP // no such socket type
	ETIMEDOUT       = errno.ETIMEDOUT    // the time has passed
)

// Error is what calls return: the operation, the number, and what lies behind.
type Error struct {
	Op    string         // "send", "connect to 10.0.0.7:5000", ...
	Peer  netip.AddrPort // whom the socket is connected to, or the zero address
	Errno Errno
	Cause error // or nil
}

// Error says what failed, with whom and why.
func (e *Error) Error() string {
	s := "exs: " + e.Op
	if e.Peer.IsValid() {
		s += ", peer " + e.Peer.String()
	}
	return s + ": " + e.reason()
}

// Unwrap returns the number and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Errno}
	}
	return []error{e.Errno, e.Cause}
}

// Timeout reports whether time ran out.
func (e *Error) Timeout() bool { return e.Errno == ETIMEDOUT }

// fail makes the error of an operation, or nil of 0.
func fail(op string, n Errno) error {
	if n == 0 {
		return nil
	}
	return &Error{Op: op, Errno: n}
}

// fail makes the error of an operation of a socket. The lock is not held.
func (s *Socket) fail(op string, n Errno) error {
	if s.none() && n == EBADF {
		return absent(op, n, noSocket)
	}
	return s.named(fail(op, n))
}

// named adds the peer of the socket to an error of this package. The lock is not held.
func (s *Socket) named(err error) error {
	if s.none() {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.naming(err)
}

// naming is named for those who hold the lock.
func (s *Socket) naming(err error) error {
	if e, ok := err.(*Error); ok {
		e.Peer = s.remote
	}
	return err
}

// failed makes the error of an operation from what lies behind.
func failed(op string, err error, otherwise Errno) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Errno: errno.Of(err, otherwise), Cause: err}
}
