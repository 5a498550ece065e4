package mx

import (
	"fmt"

	"gomx/endpoint"
)

// StatusCode says how a request ended (VI.2.1). It is a value, not an error; Err
// makes one of it.
type StatusCode uint8

// The status codes (VI.2.1). The numbers are those of MX's headers. No request ends with
// StatusPending, StatusBuffered, StatusCancelled, StatusEndpointUnknown or
// StatusBadEndpoint: docs/manual.md has what is said in their place.
const (
	StatusSuccess             StatusCode = 0
	StatusPending             StatusCode = 1  // it is not complete
	StatusBuffered            StatusCode = 2  // it is not complete, but its buffer may be reused
	StatusRejected            StatusCode = 3  // the program at the peer has refused the connect
	StatusTimeout             StatusCode = 4  // the peer has not moved within the request timeout
	StatusTruncated           StatusCode = 5  // the receive was shorter than the message
	StatusCancelled           StatusCode = 6  // it was cancelled before it matched
	StatusEndpointUnknown     StatusCode = 7  // no way to the endpoint is known
	StatusEndpointClosed      StatusCode = 8  // the peer has closed its endpoint, or disconnected from this one
	StatusEndpointUnreachable StatusCode = 9  // the connection has broken, or this endpoint has disconnected from the peer
	StatusBadSession          StatusCode = 10 // the peer was opened again, or was never connected
	StatusBadKey              StatusCode = 11 // a connect with the wrong filter
	StatusBadEndpoint         StatusCode = 12 // the endpoint id is out of range at the peer
	StatusBadRDMAWindow       StatusCode = 13 // the peer has no such window, or has closed it
	StatusAborted             StatusCode = 14 // the peer has ended it, or what it waited for was closed
	StatusNoResources         StatusCode = 16 // memory, or another resource, is used up

	// These are not MX's.
	StatusBadRDMARange     StatusCode = 17 // it reaches beyond the window
	StatusRDMANotPermitted StatusCode = 18 // the window does not permit it
	StatusBadAtomic        StatusCode = 19 // the peer has no such atomic operation, or not at that offset
	StatusNotAnswered      StatusCode = 20 // the program at the peer has not answered the connect in time
	StatusBacklogFull      StatusCode = 21 // too many connects wait for the program at the peer
	StatusNotListening     StatusCode = 22 // the peer takes no connects any more
)

// Strstatus returns the text of a status code (X.3.2), also of one that this
// version does not know. Safe from any goroutine.
func Strstatus(c StatusCode) string {
	if text := endpoint.Code(c).String(); text != endpoint.Code(255).String() {
		return text
	}
	return fmt.Sprintf("unknown status code %d", uint8(c))
}

// String returns the same text as Strstatus.
func (c StatusCode) String() string { return Strstatus(c) }

// Error returns the same text as Strstatus. A StatusCode that is not
// StatusSuccess can be used as an error.
func (c StatusCode) Error() string { return Strstatus(c) }

// Status is the outcome of a request, or what a probe saw (VI.2.1).
type Status struct {
	Code       StatusCode
	Source     EndpointAddr // who sent it; of a send: whom it went to; of others: the peer
	MatchInfo  uint64       // the message's match information; of a put, get or atomic: what it was given
	MsgLength  uint32       // bytes of the message as sent, or of the put, get or atomic
	XferLength uint32       // bytes that were transferred: less than MsgLength if truncated
	Context    any          // what the request was posted with; nil for probes
}

// Err returns nil if the request succeeded, and otherwise an error that names
// the outcome and the peer. errors.Is(err, mx.StatusTruncated) works on it.
func (s *Status) Err() error {
	if s.Code == StatusSuccess {
		return nil
	}
	return &StatusError{Status: *s}
}

// StatusError is the error form of a Status that is not a success.
type StatusError struct{ Status Status }

// Error names the outcome, the peer and the lengths.
func (e *StatusError) Error() string {
	s := &e.Status
	return fmt.Sprintf("mx: request with %v, match %#x: %v (%d of %d bytes)",
		s.Source, s.MatchInfo, s.Code, s.XferLength, s.MsgLength)
}

// Unwrap returns the status code.
func (e *StatusError) Unwrap() error { return e.Status.Code }

// fill makes a Status of the engine's, in the order that endpoint.Status.Assign gives the reason for.
func (st *Status) fill(ep *Endpoint, from *endpoint.Status) {
	st.MsgLength = from.MsgLength
	st.Source.ep = ep
	st.XferLength = from.XferLength
	st.Code = StatusCode(from.Code)
	st.Source.a.Peer = from.Source.Peer
	st.MatchInfo = from.Match
	st.Source.a.Session = from.Source.Session
	st.Context = from.Context
}

func (ep *Endpoint) status(from *endpoint.Status) (st Status) {
	st.fill(ep, from)
	return st
}
