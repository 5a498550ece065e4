package mx

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// MaxConnectData is the largest data that goes with a connect, and with its answer, in bytes.
const MaxConnectData = 512

// RejectedError is why a connect has failed whose peer is there: its program has rejected it, or has not answered. It is the cause of an
// Error with the code ErrConnectionFailed: find it with errors.As. errors.Is works with its Code.
type RejectedError struct {
	Code StatusCode // StatusRejected, StatusNotAnswered, StatusBacklogFull or StatusNotListening
	Data []byte     // what the program there says; only with StatusRejected
}

// Error says why, and what the program there has said if it is text.
func (e *RejectedError) Error() string {
	if len(e.Data) == 0 {
		return e.Code.Error()
	}
	if text := string(e.Data); !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return fmt.Sprintf("%v: %q", e.Code, text)
	}
	return fmt.Sprintf("%v, with %d bytes", e.Code, len(e.Data))
}

// Unwrap returns the status code.
func (e *RejectedError) Unwrap() error { return e.Code }

// ConnectWith is ConnectContext with data for the program at the peer, which sees it before it accepts or rejects the connect, see Listen and
// Admit, and with the data that it answers. Both are up to MaxConnectData bytes. A program that admits everybody gets no
// data, and answers none. Whoever connects to a peer once more while their session lasts gets the answer that was given when it began, and
// the program there is not asked again; at the peer it may have begun by a connect that was given up here at the moment when the program
// accepted it. ctx may be nil. MX does not have it.
//
// Errors: those of Connect; a connect that was rejected is ErrConnectionFailed with a RejectedError; ErrBadParamVal if there is too much data. Safe
// from any goroutine.
func (ep *Endpoint) ConnectWith(ctx context.Context, peer PeerName, data []byte) (addr EndpointAddr, answer []byte, err error) {
	if err := checkConnectData(data); err != nil {
		return EndpointAddr{}, nil, ep.fail("connect to", ep.nameOf(peer), err)
	}
	c := calling(peer.NIC, peer.Endpoint, peer.Filter)
	c.Data = data
	return ep.connect(ctx, c, Infinite)
}

// IconnectWith is Iconnect with data, as ConnectWith. What the program at the peer answers comes into answer: Status.MsgLength is its
// length, and Status.XferLength how much of it had room. Besides as Iconnect says, the request completes with StatusRejected, and data in answer, if
// that program has rejected it; with StatusNotAnswered if it has not answered in time; with StatusBacklogFull if too many others wait
// for its answer; with StatusNotListening if it takes no connects any more. data may be used again at once, answer not before the
// request has completed, or has been cancelled or abandoned. Errors: those of Iconnect, and ErrBadParamVal if there is too much data. Safe from any goroutine.
func (ep *Endpoint) IconnectWith(peer PeerName, data, answer []byte, matchInfo uint64, context any) (Request, error) {
	if err := checkConnectData(data); err != nil {
		return Request{}, ep.fail("connect to", ep.nameOf(peer), err)
	}
	return ep.iconnect(&endpoint.Calling{
		NIC: peer.NIC, Endpoint: peer.Endpoint, Filter: peer.Filter, Data: data, Answer: answer, Match: matchInfo, Context: context,
	})
}

// nameOf names a peer that there may be no session with.
func (ep *Endpoint) nameOf(peer PeerName) string {
	return peerName(ep.dir, peer.NIC, peer.Endpoint, wire.Contexts{})
}

// checkConnectData returns the cause of the error of a call that is given too much data.
func checkConnectData(data []byte) error {
	if len(data) <= MaxConnectData {
		return nil
	}
	return fmt.Errorf("%w: %d bytes of data, and a connect carries %d at most", ErrBadParamVal, len(data), MaxConnectData)
}
