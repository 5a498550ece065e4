package exs

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"gomx/exs/internal/errno"
	"gomx/mx"
)

// told is a cause that says all there is to say: what happened, between whom, and what helps. Neither the number in front of it nor what lies behind it would
// tell more.
type told struct {
	text string
	of   []error // what errors.Is finds
}

func tell(text string, of ...error) error { return &told{text, of} }

func (t *told) Error() string   { return t.text }
func (t *told) Unwrap() []error { return t.of }

// clearer has better words than the system for numbers that are about our sockets, not about its descriptors, or that want a remedy.
var clearer = map[Errno]string{
	EBADF:        "the socket is closed",
	EDESTADDRREQ: "the socket has no address: Bind comes first",
	ENOTCONN:     "the socket is not connected",
	EISCONN:      "the socket is connected already",
	EALREADY:     "it is under way, or was done before",

	EMFILE: "too many open files, raise the limit (ulimit -n)",
	ENFILE: "too many open files in the system, close some (fs.file-max)",

	errno.EADDRNOTAVAIL: "no interface of this host has the address",
}

// reason is why a call failed, without what it was and with whom.
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
	case *net.OpError: // of the TCP connection, whose addresses are ours
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

// ofMX is why a call of mx failed, without what it was and with whom.
func ofMX(e *mx.Error) string {
	return strings.TrimPrefix((&mx.Error{Code: e.Code, Cause: e.Cause}).Error(), "mx: : ")
}

// typeName is how users name a type of sockets: by the constant, and the network of Dial.
func typeName(typ int) string {
	switch typ {
	case Stream:
		return `Stream (network "exs")`
	case SeqPacket:
		return `SeqPacket (network "exspacket")`
	}
	return strconv.Itoa(typ)
}
