package exs

import (
	"errors"
	"fmt"
	"net"

	"gomx/exs/internal/errno"
	"gomx/mx"
)

// errUnreached is how a connect ends that the listener has agreed to, and then finds no way to its endpoint.
var errUnreached = errors.New("the listener answers, but there is no way to its endpoint")

// What there has to be for a way.
const (
	needTransport = "both sides need a transport in common (MX_TRANSPORT)"
	needPorts     = needTransport + " and the same ports (MX_PORT_BASE)"
	needNetwork   = "both sides need a network in common (MX_NET) that lets them through"
	needOwnPlace  = "its address means this host, as that of a loopback interface does: the listener has to use a network that both sides have in common (MX_NET)"
	needTrust     = "both sides need the same secret or none (MX_SECRET), and TLS or none (MX_TLS)"
)

// unreached makes the error of a connect that has met the listener over c, and not its endpoint at p.
func unreached(c net.Conn, p place, err error) error {
	here, there := addrOf(c.LocalAddr()).Addr(), addrOf(c.RemoteAddr()).Addr()
	elsewhere := !there.IsLoopback() && here != there
	if need := needOf(elsewhere, p, err); need != "" {
		return fmt.Errorf("%w: %s: %w", errUnreached, need, err)
	}
	return fmt.Errorf("%w: %w", errUnreached, err)
}

// needOf returns what would help against an error of mx, or nothing if that says it. The listener is on another host or not.
func needOf(elsewhere bool, p place, err error) string {
	if errors.Is(err, mx.ErrNoResources) || errors.Is(err, mx.StatusNoResources) {
		return ""
	}
	if elsewhere {
		if _, other := mx.NICIDToBoardNumber(p.nic); other == nil {
			return needOwnPlace
		}
	}
	switch n := errnoOf(err, 0); {
	case errors.Is(err, mx.ErrRefused): // over one transport, whatever the others say
		return needTrust
	case errors.Is(err, mx.ErrNICNotFound):
		return needTransport
	case errors.Is(err, mx.ErrBadConnectionKey), errors.Is(err, mx.ErrNoPeer): // another endpoint is there, or none
		return needPorts
	case n == EHOSTUNREACH, n == errno.ENETUNREACH, n == ETIMEDOUT:
		return needNetwork
	}
	return needTrust
}
