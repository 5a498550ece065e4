package mpi

import (
	"fmt"
	"strings"

	"gomx/mpi/launch"
)

// ErrorClass says what kind of error a call has returned. It is an error: test for
// one with errors.Is(err, mpi.ErrRank).
type ErrorClass int

// The classes of errors.
const (
	ErrComm       ErrorClass = iota + 1 // no communicator, or one that was freed (MPI_ERR_COMM)
	ErrCount                            // a length that does not fit (MPI_ERR_COUNT)
	ErrRank                             // no such rank (MPI_ERR_RANK)
	ErrTag                              // no such tag (MPI_ERR_TAG)
	ErrRoot                             // no such root (MPI_ERR_ROOT)
	ErrType                             // elements with pointers, a message size that is not a multiple of the element size, or, if checked, other elements (MPI_ERR_TYPE)
	ErrTruncate                         // the message is longer than the buffer (MPI_ERR_TRUNCATE)
	ErrRequest                          // not a request that the call can be used with (MPI_ERR_REQUEST)
	ErrOp                               // no operation (MPI_ERR_OP)
	ErrGroup                            // no group, or not of these ranks (MPI_ERR_GROUP)
	ErrTopology                         // no such topology (MPI_ERR_TOPOLOGY)
	ErrDims                             // dimensions that do not fit (MPI_ERR_DIMS)
	ErrArg                              // another argument is wrong (MPI_ERR_ARG)
	ErrInit                             // the second Init
	ErrFinalized                        // the call comes after Finalize
	ErrProcFailed                       // a rank has died (MPIX_ERR_PROC_FAILED)
	ErrAborted                          // a rank has aborted the program
	ErrMismatch                         // the ranks are in different calls
	ErrWin                              // no window, or one that was freed (MPI_ERR_WIN)
	ErrRange                            // outside of the window (MPI_ERR_RMA_RANGE)
	ErrLaunch                           // the launcher, or the lack of one
	ErrOther                            // what package mx could not do, and what a context has ended (MPI_ERR_OTHER)
)

var classTexts = map[ErrorClass]string{
	ErrComm: "invalid communicator", ErrCount: "invalid count", ErrRank: "invalid rank", ErrTag: "invalid tag",
	ErrRoot: "invalid root", ErrType: "invalid type", ErrTruncate: "message truncated", ErrRequest: "invalid request",
	ErrOp: "invalid operation", ErrGroup: "invalid group", ErrTopology: "invalid topology",
	ErrDims: "invalid dimensions", ErrArg: "invalid argument", ErrInit: "Init was called before",
	ErrFinalized: "after Finalize", ErrProcFailed: "a process has failed", ErrAborted: "aborted",
	ErrMismatch: "the ranks do different things", ErrWin: "invalid window", ErrRange: "outside of the window",
	ErrLaunch: "the job could not be started", ErrOther: "failed",
}

// Error returns the text of the class.
func (c ErrorClass) Error() string {
	if text, ok := classTexts[c]; ok {
		return text
	}
	return fmt.Sprintf("unknown error class %d", int(c))
}

// Error is the error of calls: the call, the calling rank, the peer, and the cause. errors.Is works with the class and
// with the cause.
type Error struct {
	Op    string // "Send", "Allreduce", ...
	Comm  string // the name of the communicator, "" if there is none
	Rank  int    // the caller's, in the communicator; Undefined if there is none
	Peer  int    // the other rank, AnySource, or Undefined if there is none
	Tag   int    // of the message, AnyTag, or Undefined if there is none
	Class ErrorClass
	Cause error // what lies behind, and what helps; or nil
}

// Error names all there is. Of the name of the communicator it has at most 100 bytes, with escapes for what a terminal would not print.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("mpi: ")
	b.WriteString(e.Op)
	switch {
	case e.Comm != "":
		fmt.Fprintf(&b, " on %s, rank %d", launch.Name(e.Comm), e.Rank)
	case e.Rank != Undefined:
		fmt.Fprintf(&b, " on a communicator without a name, rank %d", e.Rank)
	}
	switch {
	case e.Peer == Undefined:
	case e.Peer == AnySource && e.Class != ErrRank && e.Class != ErrRoot:
		b.WriteString(", with any rank")
	default:
		fmt.Fprintf(&b, ", with rank %d", e.Peer)
	}
	switch {
	case e.Tag == Undefined:
	case e.Tag == AnyTag && e.Class != ErrTag:
		b.WriteString(", any tag")
	default:
		fmt.Fprintf(&b, ", tag %d", e.Tag)
	}
	late, ok := e.Cause.(*expiry)
	switch {
	case ok && late.remark != "":
		fmt.Fprintf(&b, ": %v (%s)", late, late.remark)
	case ok:
		fmt.Fprintf(&b, ": %v", late)
	case e.Cause != nil:
		fmt.Fprintf(&b, ": %v: %v", e.Class, e.Cause)
	default:
		fmt.Fprintf(&b, ": %v", e.Class)
	}
	return b.String()
}

// Unwrap returns the class and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Class}
	}
	return []error{e.Class, e.Cause}
}

// fail makes the error of a call that concerns no other rank.
func (c *Comm) fail(op string, class ErrorClass, format string, args ...any) error {
	return c.failWith(op, Undefined, Undefined, class, fmt.Errorf(format, args...))
}

// failWith makes the error of a call that concerns a peer.
func (c *Comm) failWith(op string, peer, tag int, class ErrorClass, cause error) error {
	e := &Error{Op: op, Rank: Undefined, Peer: peer, Tag: tag, Class: class, Cause: cause}
	if !c.none() {
		e.Comm, e.Rank = c.Name(), c.rank
		if class == ErrOther {
			e.Cause = expired(c.ctx, cause)
		}
		if class == ErrProcFailed {
			c.seat.lost.CompareAndSwap(nil, &lostRank{c.worldRank(peer), cause})
		}
	}
	return e
}

// failOp makes the error of a call without a communicator.
func failOp(op string, class ErrorClass, format string, args ...any) error {
	return (*Comm)(nil).fail(op, class, format, args...)
}
