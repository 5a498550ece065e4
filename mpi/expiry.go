package mpi

import (
	"context"
	"errors"

	"gomx/internal/ended"
)

// ErrGivenUp is wrapped, together with the context's error, by the error of a call whose operation the context has ended: a
// blocking call, or the collective of a request. The operation has failed on this rank, and there is no request left to wait
// for. Comm.WithContext says what happens to its buffers. An error that wraps the context's and not ErrGivenUp is that of a
// wait, and its requests stay.
var ErrGivenUp = errors.New("the operation was given up")

// ErrNotBegun is wrapped, together with ErrGivenUp, by the error of a send or receive whose context has ended before the ranks
// were connected, which the first message between two ranks requires: nothing was sent or posted, and the buffer may be
// reused.
var ErrNotBegun = errors.New("nothing was started")

// expiry says that a context has ended a call. It is an error.
type expiry struct {
	cause  error // the context's
	stays  bool  // only the wait is over
	early  bool  // nothing was started
	remark string
}

func (e *expiry) Error() string {
	if e.stays {
		return "stopped waiting: " + e.cause.Error()
	}
	return "gave up waiting: " + e.cause.Error()
}

func (e *expiry) Unwrap() []error {
	if e.stays {
		return []error{e.cause}
	}
	if e.early {
		return []error{e.cause, ErrGivenUp, ErrNotBegun}
	}
	return []error{e.cause, ErrGivenUp}
}

// What an error says of the requests and the memory of its rank.
const (
	staysRemark       = "the request stays"
	allStayRemark     = "the requests stay"
	bufferRemark      = "the buffer may still be in use"
	earlyRemark       = "the ranks were not yet connected, so that nothing was started"
	unconnectedRemark = "the ranks were not yet connected; the collective counts as called"
	buffersRemark     = "its buffers may still be in use"
)

// expired returns what ended a call: the expiry of a context, if that is so, or else err.
func expired(ctx context.Context, err error) error {
	if _, known := errors.AsType[*expiry](err); known || !ended.By(ctx, err) {
		return err
	}
	return &expiry{cause: ctx.Err()}
}

// remarked has the expiry of a context say more, if err is one.
func remarked(err error, stays bool, remark string) error {
	if e, ok := errors.AsType[*expiry](err); ok {
		return &expiry{cause: e.cause, stays: stays, remark: remark}
	}
	return err
}
