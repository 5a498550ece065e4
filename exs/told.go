package exs

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"gomx/exs/internal/errno"
	"gomx/mx"
)

// told is a complete message: what happened, between whom, and what helps. The error number and the causes behind it are not shown
// with it.
type told struct {
	text string
	of   []error // the errors that errors.Is finds
}

func tell(text string, of ...error) error { return &told{text, of} }

func (t *told) Error() string   { return t.text }
func (t *told) Unwrap() []error { return t.of }

// clearer has texts for numbers whose text in the system speaks of file descriptors, or lacks a remedy.
var clearer = map[Errno]string{
	EBADF:        "the socket is closed",
	ECONNREFUSED: "connection refused: nobody listens there; start the server first, or check the port",
	EDESTADDRREQ: "the socket has no address: Bind comes first",
	ENOTCONN:     "the socket is not connected",
	EISCONN:      "the socket is connected already",
	EALREADY:     "it is under way, or was done before",

	EMFILE: "too many open files, raise the limit (ulimit -n)",
	ENFILE: "too many open files in the system, close some (fs.file-max)",

	EADDRINUSE:          "address already in use: another program has the port, or an earlier run of this one; end it, or choose another port (0 for a free one)",
	errno.EADDRNOTAVAIL: "no interface of this host has the address; choose one that mx_hostname -v lists, or leave it out for all",
}

// zoneless says what the system means that refuses a link-local address as invalid.
func zoneless(addr netip.AddrPort, err error) error {
	if a := addr.Addr(); a.Is6() && a.IsLinkLocalUnicast() && errors.Is(err, EINVAL) {
		return tell("a link-local address needs the zone of an interface of this host, as in [fe80::1%eth0]:5000", EINVAL)
	}
	return err
}

// reason returns why a call failed, without the operation and the peer.
func (e *Error) reason() string {
	number := e.Errno.Error()
	if clear := clearer[e.Errno]; clear != "" {
		number = clear
	}
	switch cause := e.Cause.(type) {
	case nil:
	case *told, *overdue:
		return cause.Error()
	case *mx.Error:
		return ofMX(cause)
	case *net.OpError: // of the TCP connection, whose addresses are those of the sockets
		if !errors.Is(cause, e.Errno) {
			return number + ": " + cause.Err.Error()
		}
	default:
		if cause != error(e.Errno) {
			return number + ": " + cause.Error()
		}
	}
	return number
}

// ofMX returns why a call of mx failed, without the operation and the peer.
func ofMX(e *mx.Error) string {
	return strings.TrimPrefix((&mx.Error{Code: e.Code, Cause: e.Cause}).Error(), "mx: : ")
}

// typeName returns the name of a type of sockets for users: the constant, and the network of Dial.
func typeName(typ int) string {
	switch typ {
	case Stream:
		return `Stream (network "exs")`
	case SeqPacket:
		return `SeqPacket (network "exspacket")`
	}
	return strconv.Itoa(typ)
}
