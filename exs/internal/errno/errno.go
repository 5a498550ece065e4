// Package errno has the error numbers of package exs: those of the system, under
// one name for all files that tell them apart. It has the numbers of domains as well.
package errno

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
)

// Errno is an error number of the system. 0 is none.
type Errno = syscall.Errno

// The numbers that sockets know.
const (
	EACCES        = syscall.EACCES
	EADDRINUSE    = syscall.EADDRINUSE
	EADDRNOTAVAIL = syscall.EADDRNOTAVAIL
	EAFNOSUPPORT  = syscall.EAFNOSUPPORT
	EALREADY      = syscall.EALREADY
	EBADF         = syscall.EBADF
	EBUSY         = syscall.EBUSY
	ECANCELED     = syscall.ECANCELED
	ECONNREFUSED  = syscall.ECONNREFUSED
	ECONNRESET    = syscall.ECONNRESET
	EDESTADDRREQ  = syscall.EDESTADDRREQ
	EFAULT        = syscall.EFAULT
	EHOSTUNREACH  = syscall.EHOSTUNREACH
	EINVAL        = syscall.EINVAL
	EIO           = syscall.EIO
	EISCONN       = syscall.EISCONN
	EMFILE        = syscall.EMFILE
	EMSGSIZE      = syscall.EMSGSIZE
	ENETDOWN      = syscall.ENETDOWN
	ENETUNREACH   = syscall.ENETUNREACH
	ENFILE        = syscall.ENFILE
	ENOBUFS       = syscall.ENOBUFS
	ENOTCONN      = syscall.ENOTCONN
	EOPNOTSUPP    = syscall.EOPNOTSUPP
	EPIPE         = syscall.EPIPE
	EPROTO        = syscall.EPROTO
	EPROTONOSUPP  = syscall.EPROTONOSUPPORT
	ESOCKTNOSUPP  = syscall.ESOCKTNOSUPPORT
	ESPIPE        = syscall.ESPIPE
	ETIMEDOUT     = syscall.ETIMEDOUT
)

// Of returns the number behind an error of package net or os, or otherwise when
// there is none.
func Of(err error, otherwise Errno) Errno {
	if n, ok := errors.AsType[syscall.Errno](err); ok {
		return n
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return ETIMEDOUT
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return ETIMEDOUT
	case errors.Is(err, context.Canceled), errors.Is(err, net.ErrClosed):
		return ECANCELED
	}
	return otherwise
}
