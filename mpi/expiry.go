package mpi

import (
	"context"
	"errors"
)

// ErrGivenUp is what the error of a call wraps, besides that of its context, if the context has ended the call itself, or the collective that
// a request stood for: it has failed at this rank, and no request is left to wait for. Comm.WithContext tells what becomes of what was begun.
// An error that wraps the context's and not this one is that of a wait for requests, which stay.
var ErrGivenUp = errors.New("the operation was given up")

// ErrNotBegun is what the error of a send or receive wraps, besides ErrGivenUp, if the context has ended before there was a connection to the
// other rank, with which the first message to it begins: nothing was sent or posted, and the buffer is free.
var ErrNotBegun = errors.New("nothing was begun")

// expiry says that a context has ended a call. It is an error.
type expiry struct {
	cause  error // the context's
	stays  bool  // only the wait is over
	early  bool  // nothing was begun
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

// What a rank is told of its own requests and memory.
const (
	staysRemark   = "the request stays"
	allStayRemark = "the requests stay"
	bufferRemark  = "the buffer may still be in use"
	earlyRemark   = "the ranks were not yet connected, so that nothing was begun"
	buffersRemark = "its buffers may still be in use"
)

// expired returns what ended a call: the expiry of a context, if that is so, or else err.
func expired(ctx context.Context, err error) error {
	if _, known := errors.AsType[*expiry](err); known || ctx == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
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
