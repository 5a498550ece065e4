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

// The reasons why a connect ends when its socket or library is closed.
var (
	errLibraryClosed = tell("the library was closed", net.ErrClosed)
	errSocketClosed  = tell("the socket was closed meanwhile", net.ErrClosed)
)

// endedBy is why a dial or a Listen has failed, whose socket nobody else closes: one that is closed was closed with the library.
func (l *Library) endedBy(err error) error {
	if errors.Is(err, EBADF) && l.isClosed() {
		return errLibraryClosed
	}
	return err
}

// phase says what a connect waits for, and what may be the cause if it waits for long.
type phase string

// The phases.
const (
	toAnswer  phase = "nothing answered within %v: the host is down, the time is short, or a firewall drops packets to this port"
	toGreet   phase = "something accepted the connection and sent no whole handshake within %v: it is not an exs listener, or one that does not call Accept, is stopped, or has no file descriptor left (ulimit -n)"
	toReach   phase = "the listener answered, and its endpoint did not within %v: let packets through between the hosts (ports from MX_PORT_BASE on), use another network (MX_NET), or raise its limit if it has no file descriptor left (ulimit -n)"
	toBeTaken phase = "the listener did not take the connection within %v: if its queue is full, its program has to call Accept, or listen with a larger backlog"
	toComeIn  phase = "the listener did not let this client in within %v: it has too many clients at once, or no file descriptor left for them (ulimit -n)"
)

// wait records how far a connect has come. The zero wait is that of a connect that has not begun.
type wait struct {
	phase    phase
	since    time.Time
	first    time.Time // when the first phase began
	sentAway bool      // a listener has sent this client away at least once
}

func (w *wait) begin(p phase) {
	w.phase, w.since = p, time.Now()
	if w.first.IsZero() {
		w.first = w.since
	}
}

// over is the error of a connect whose context has ended.
func (w *wait) over(end error) error {
	o := &overdue{end: end, waited: "the time was over before the connect began"}
	switch {
	case w.sentAway && w.phase != toBeTaken: // that is more telling than how far the present try has come
		o.waited = fmt.Sprintf(string(toComeIn), rounded(time.Since(w.first)))
	case w.phase != "":
		o.waited = fmt.Sprintf(string(w.phase), rounded(time.Since(w.since)))
	}
	return o
}

// rounded rounds a duration for people.
func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second / 10)
}

// overdue is the error of a connect whose timeout has passed or whose context has ended.
type overdue struct {
	end    error  // of package context
	waited string // what it has waited for, and how long
}

func (o *overdue) Error() string {
	if !o.Timeout() {
		return o.end.Error()
	}
	return "timed out: " + o.waited
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
	case errors.Is(err, errNotEXS), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return EPROTO
	}
	return errnoOf(err, ECONNREFUSED)
}
