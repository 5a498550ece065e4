package exs

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"gomx/exs/internal/errno"
	"gomx/mx"
)

// errUnreached is the error of a connect that the listener has granted, but that finds no way to the listener's endpoint.
var errUnreached = errors.New("the listener answers, but there is no way to its endpoint")

// unreached makes the error of a connect that has reached the listener over c, but not its endpoint at p.
func unreached(ep *mx.Endpoint, c net.Conn, p endpointAddr, err error) error {
	here, there := addrOf(c.LocalAddr()).Addr(), addrOf(c.RemoteAddr()).Addr()
	elsewhere := !there.IsLoopback() && here != there
	name := "its endpoint"
	if e, ok := errors.AsType[*mx.Error](err); ok && e.Peer != "" {
		name += " " + e.Peer
	}
	return tell("the listener answers, and "+name+" "+wayOf(ep, elsewhere, p, err), errUnreached, err)
}

// wayOf returns what the listener's endpoint does instead of being connected to: the text that follows "its endpoint". elsewhere says that
// the listener is on another host.
func wayOf(ep *mx.Endpoint, elsewhere bool, p endpointAddr, err error) string {
	over, common := overs(ep)
	if elsewhere {
		if _, other := mx.NICIDToBoardNumber(p.nic); other == nil {
			return "has an address that means this host: the listener has to use a network that both hosts are on, not the loopback interface (MX_NET)"
		}
	}
	switch n := errnoOf(err, 0); {
	case errors.Is(err, mx.ErrNoResources), errors.Is(err, mx.StatusNoResources):
	case errors.Is(err, mx.ErrRefused): // refused over one transport, so that the errors of the others do not matter
		return "refuses: " + refusal(err)
	case errors.Is(err, mx.ErrNICNotFound):
		return "is not known " + over + ": " + common
	case errors.Is(err, mx.ErrBadConnectionKey):
		return "is another program's " + over + ": " + common
	case errors.Is(err, mx.ErrNoPeer):
		return "is not there " + over + ": " + common
	case n == EHOSTUNREACH, n == errno.ENETUNREACH, n == ETIMEDOUT:
		if e, ok := errors.AsType[*net.OpError](err); ok && e.Addr != nil {
			return fmt.Sprintf("is not reached at %v, %v: both sides need a network in common that lets them through (MX_NET)", e.Addr, n)
		}
		return fmt.Sprintf("is not reached, %v: both sides need a network in common that lets them through (MX_NET)", n)
	}
	if e, ok := err.(*mx.Error); ok {
		return "is not reached: " + ofMX(e)
	}
	return "is not reached: " + err.Error()
}

// overs returns the names of an endpoint's transports, and what another endpoint needs to reach it.
func overs(ep *mx.Endpoint) (over, common string) {
	const need = "both sides need a transport in common (MX_TRANSPORT)"
	switch names := ep.TransportNames(); {
	case len(names) == 0:
		return "to this side, which has no transport but self", need
	case slices.Contains(names, "tcp") || slices.Contains(names, "rdma"):
		return "over " + strings.Join(names, ", "), need + " and the same ports (MX_PORT_BASE)"
	default:
		return "over " + strings.Join(names, ", "), need
	}
}

// refusal returns why an endpoint refuses this one, over each transport that it is refused over, and a remedy.
func refusal(err error) string {
	var each []string
	for _, refused := range innermost(err, mx.ErrRefused) {
		why := strings.TrimPrefix(refused.Error(), mx.ErrRefused.Error()+": ")
		switch {
		case strings.Contains(why, "TLS"):
			why += " (MX_TLS)"
		case strings.Contains(why, "secret"):
			why += " (MX_SECRET)"
		}
		if !slices.Contains(each, why) {
			each = append(each, why)
		}
	}
	return strings.Join(each, "; ")
}

// innermost returns the errors in err that say more than target, which they wrap, and have no such errors in them.
func innermost(err, target error) (found []error) {
	var inside []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inside = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inside = e.Unwrap()
	}
	for _, in := range inside {
		if in != target && errors.Is(in, target) {
			found = append(found, innermost(in, target)...)
		}
	}
	if found == nil {
		found = []error{err}
	}
	return found
}
