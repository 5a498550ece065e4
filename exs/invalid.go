package exs

import "fmt"

// wrong makes the error of a call whose arguments make no sense, or that comes at the wrong time.
func wrong(op, format string, args ...any) error {
	return &Error{Op: op, Errno: EINVAL, Cause: tell(fmt.Sprintf(format, args...))}
}

// Why a call comes at the wrong time. One on a socket that is closed is EBADF.
const (
	isBound    = "the socket has an address already, or a connection"
	isTaken    = "the socket has a connection, or is about to have one"
	isNoServer = "the socket does not listen: Listen comes first"

	queueDeleted = "the queue was deleted"
	memoryGone   = "the registration has ended"
	oneLibrary   = "the sockets are of several libraries, or there are none"
)

// unfit is fail, with the reason if the number is that of a call at the wrong time.
func (s *Socket) unfit(op string, n Errno, reason string) error {
	if n == EINVAL {
		return wrong(op, "%s", reason)
	}
	return s.fail(op, n)
}

// unsuited is fail, with the reason if the number is that of arguments that make no sense.
func (s *Socket) unsuited(op string, n Errno, flags Flags, q *Queue, m *Memory) error {
	switch {
	case n != EINVAL:
		return s.fail(op, n)
	case flags&Block != 0: // which needs no queue
	case q == nil && flags&Unsignaled == 0:
		return wrong(op, "there is no queue for the event: name one, or use Block")
	case q != nil && q.l != s.l:
		return wrong(op, "the queue is of another library than the socket")
	case q != nil && q.gone():
		return wrong(op, queueDeleted)
	}
	switch {
	case m != nil && m.l != s.l:
		return wrong(op, "the memory is registered with another library than the socket's")
	case m != nil && m.gone():
		return wrong(op, memoryGone)
	}
	return wrong(op, "the flags %#x don't go together in this call", uint32(flags))
}
