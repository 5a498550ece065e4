package exs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"gomx/mx"
)

// Why nothing more comes of a socket.
var (
	errLibraryClosed = fmt.Errorf("the library was closed: %w", net.ErrClosed)
	errSocketClosed  = fmt.Errorf("the socket was closed: %w", net.ErrClosed)
)

// phase is what a connect waits for, and what may be the matter if it waits for long.
type phase string

// The phases.
const (
	toAnswer  phase = "nothing answered at the address within %v: too short a time, no such host, or packets are filtered on the way"
	toGreet   phase = "something listens there and said no hello within %v: a program without exs, one that is stopped or has not called Accept, or one with far more clients than its Listen allows for"
	toReach   phase = "the listener answers, its endpoint did not within %v: is the way between the hosts open for the transports (MX_TRANSPORT), on the networks that they use (MX_NET)?"
	toBeTaken phase = "the listener had no place in its queue of connections within %v: if the queue is full, its program has to call Accept, or Listen with a larger backlog"
)

// wait is how far a connect has come. The zero wait is that of one that has not begun.
type wait struct {
	phase phase
	since time.Time
}

func (w *wait) begin(p phase) { w.phase, w.since = p, time.Now() }

// over is the error of a connect whose context has ended.
func (w *wait) over(end error) error {
	o := &overdue{end: end, waited: "the time was over before the connect began"}
	if w.phase != "" {
		o.waited = fmt.Sprintf(string(w.phase), time.Since(w.since).Round(time.Microsecond))
	}
	return o
}

// overdue is the end of a connect whose time is over, or whose context has ended.
type overdue struct {
	end    error  // of package context
	waited string // for what, and how long
}

func (o *overdue) Error() string {
	if !o.Timeout() {
		return o.end.Error()
	}
	return o.end.Error() + ": " + o.waited
}

func (o *overdue) Unwrap() error { return o.end }

// Timeout reports whether time ran out.
func (o *overdue) Timeout() bool { return errors.Is(o.end, context.DeadlineExceeded) }

func connectErrno(err error) Errno {
	switch {
	case errors.Is(err, mx.ErrTimeout):
		return ETIMEDOUT
	case errors.Is(err, errUnreached): // whatever ended the connections that were to reach it
		return EHOSTUNREACH
	case errors.Is(err, errStranger), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return EPROTO
	}
	return errnoOf(err, ECONNREFUSED)
}
