package exs

import (
	"fmt"

	"gomx/mx"
)

// wrong makes the error of a call whose arguments make no sense, or that comes at the wrong time.
func wrong(op, format string, args ...any) error {
	return because(op, EINVAL, fmt.Sprintf(format, args...))
}

// because makes an error with a text of its own.
func because(op string, n Errno, text string) error {
	return &Error{Op: op, Errno: n, Cause: tell(text)}
}

// wrong is the function wrong, of a call on a socket. The lock is not held.
func (s *Socket) wrong(op, format string, args ...any) error {
	return s.named(wrong(op, format, args...))
}

// Why a call comes at the wrong time. One on a socket that is closed is EBADF.
const (
	isBound    = "the socket has an address already, or a connection"
	isTaken    = "the socket has a connection, or is about to have one"
	isServer   = "the socket listens: connect another one"
	isNoServer = "the socket does not listen: Listen comes first"

	queueDeleted = "the queue was deleted"
	memoryGone   = "the registration has ended"
	oneLibrary   = "the sockets are of several libraries, or there are none"
	noBuffer     = "to a stream without buffer nothing comes before a receive: start one, give it a buffer (SetStreamBufSize), or poll for PollHup alone"
)

// unfit is fail, with the reason if the number is that of a call at the wrong time.
func (s *Socket) unfit(op string, n Errno, reason string) error {
	if n == EINVAL {
		return s.wrong(op, "%s", reason)
	}
	return s.fail(op, n)
}

// unsuited is fail, with the reason if the number is that of arguments that make no sense.
func (s *Socket) unsuited(op string, n Errno, flags Flags, q *Queue, m *Memory) error {
	switch n {
	case EINVAL:
		return s.wrong(op, "%s", s.unsuitable(flags, q, m))
	case EBUSY:
		return s.busy(op)
	}
	return s.refused(op, n)
}

// refused is fail of a send or receive, with what helps where the number alone does not say it.
func (s *Socket) refused(op string, n Errno) error {
	if text, some := refusals[n]; some {
		return s.named(because(op, n, text))
	}
	return s.fail(op, n)
}

// busy makes the error of a transfer that has to wait. Programs see it without a credit as a matter of course, so it is made once for
// sends and once for receives.
func (s *Socket) busy(op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	way, under := toRead, s.sending
	if op == "recv" {
		way, under = toWrite, s.receiving
	}
	if x := s.special; under < s.options.credits && x != nil && (x.near[way] != nil || x.leaves(way)) {
		return s.naming(because(op, EBUSY, isPersistent))
	}
	if e := s.without[way]; e == nil || e.Op != op {
		s.without[way] = &Error{Op: op, Peer: s.remote, Errno: EBUSY, Cause: tell(noCredit)}
	}
	return s.without[way]
}

func (s *Socket) unsuitable(flags Flags, q *Queue, m *Memory) string {
	switch {
	case flags&Block != 0: // which needs no queue
	case q == nil && flags&Unsignaled == 0:
		return "there is no queue for the event: " + queueless(flags)
	case q != nil && q.l != s.l:
		return "the queue is of another library than the socket"
	case q != nil && q.gone():
		return queueDeleted
	}
	switch {
	case m != nil && m.l != s.l:
		return "the memory is registered with another library than the socket's"
	case m != nil && m.gone():
		return memoryGone
	case flags&Notify != 0 && (flags&Persistent == 0 || q == nil):
		return "Notify goes with Persistent, and needs a queue"
	case flags&Persistent != 0:
		return "Persistent needs memory of at least one byte and has no offset; it goes neither with Block, Peek, WaitAll nor InPlace"
	case flags&InPlace != 0:
		return "InPlace, of a receive without an offset, goes neither with Block, Unsignaled nor Peek"
	}
	return fmt.Sprintf("the flags %#x don't go together in this call", uint32(flags))
}

// queueless says what helps a call without a queue.
func queueless(flags Flags) string {
	switch {
	case flags&(Notify|InPlace) != 0:
		return "name one"
	case flags&Persistent != 0:
		return "name one, or use Unsignaled"
	}
	return "name one, or use Block"
}

// refusals are the texts of refused.
var refusals = map[Errno]string{
	EACCES:   "the memory is registered with RecvDisable, to send from only: Modify changes that",
	EFAULT:   "the bytes are not within the registered memory, or with an offset not within the persistent memory of the peer",
	EMSGSIZE: tooLong,
}

var tooLong = fmt.Sprintf("a message has at most %d pieces, and %d bytes", mx.MaxSegments, uint64(mx.MaxMessage))

// Why a call is told EBUSY.
const (
	noCredit     = "there is no credit: take events from the queue, or use CreditWait or Block"
	isPersistent = "a persistent operation of this direction is under way: cancel it, and wait for its event"
	shutsAlready = "a Shutdown of this direction is under way: its event comes first"
	queueInUse   = "operations are outstanding whose events come into the queue: wait for them, or cancel them"
	memoryInUse  = "operations use the memory: wait for their events, or cancel them"
)
