package exs

import (
	"context"
	"errors"
	"net"
)

// bare is an Error inside an error of package net, which names the call and the addresses.
type bare struct{ e *Error }

func (b bare) Error() string {
	if b.e.Op == openEndpoint {
		return "the endpoint can't be opened: " + b.e.reason()
	}
	return b.e.reason()
}

func (b bare) Unwrap() error { return b.e }
func (b bare) Timeout() bool { return b.e.Timeout() }

// plain turns an error of this package into the cause of a *net.OpError: it keeps the reason, without the operation and the peer.
func plain(err error) error {
	e, ok := err.(*Error)
	switch {
	case !ok:
		return err
	case errors.Is(e.Cause, context.Canceled):
		return context.Canceled
	case errors.Is(e.Cause, net.ErrClosed):
		return e.Cause
	}
	return bare{e}
}
