package mx

import (
	"fmt"

	"gomx/endpoint"
)

// SendLevel says when a send completes. MX has the first and the last; the guide of OFI calls them completion levels.
type SendLevel uint8

// The levels, each of which says what those before it say, and more.
const (
	// SendBuffered: the buffer may be reused (FI_INJECT_COMPLETE). The message may still be lost with this process, or
	// with the connection if that does not come back.
	SendBuffered SendLevel = 0
	// SendAcked: the peer's library has acknowledged the message (FI_TRANSMIT_COMPLETE): it is in the memory of the
	// peer's process, matched or stored, and its handler of unexpected messages, if there is one, has been shown it. Of
	// a large message, and of one for which the peer had no memory left (credit), the bytes stay with the sender until
	// a receive matches; such a send completes when they have been fetched.
	SendAcked SendLevel = 1
	// SendMatched: a receive has matched the message, and its bytes are where it wants them (FI_MATCH_COMPLETE).
	SendMatched SendLevel = 2
)

// String returns the name of the level.
func (l SendLevel) String() string {
	if int(l) >= len(sendLevels) {
		return fmt.Sprintf("level %d", uint8(l))
	}
	return sendLevels[l].name
}

var sendLevels = [...]struct{ name, op string }{
	SendBuffered: {"buffered", "isend to"},
	SendAcked:    {"acknowledged", "isendacked to"},
	SendMatched:  {"matched", "issend to"},
}

// WithSendLevel sets when sends of the endpoint complete that Isend and Isendv make: SendBuffered unless it is set.
// Issend, IsendAcked and IsendLevel choose for one send. Sends without a request, SendNow, are not concerned. MX does
// not have it.
func WithSendLevel(level SendLevel) Param { return Param{ParamSendLevel, level} }

func checkSendLevel(level SendLevel) error {
	if !endpoint.Level(level).Valid() {
		return fmt.Errorf("want SendBuffered, SendAcked or SendMatched")
	}
	return nil
}

// IsendAcked is Isend that completes when the peer's library has acknowledged the message: see SendAcked. The buffer may
// be free before; Ibuffered tells. It says nothing of a receive: success even if the one that matches is too short, or
// if the peer drops the message. The exception is a message larger than EagerTo that the peer's handler finishes
// (RecvFinished): its status is StatusTruncated with 0 bytes, unless that is this endpoint's own handler, which was shown it. If the session with the peer ends first, the status says why, and the message
// may have arrived or not. Over links that break and heal it is delivered, and acknowledged, exactly once.
//
// Errors are those of Isend. MX does not have it. Safe from any goroutine.
func (ep *Endpoint) IsendAcked(buf []byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	return ep.send(dest.ep, &endpoint.Outgoing{First: buf, To: dest.a, Match: matchSend, Context: context}, &endpoint.SendOptions{Level: endpoint.Acknowledged})
}

// IsendLevel is Isendv that completes at a level, whatever WithSendLevel says. Errors: ErrBadParamVal for no level, and
// those of Isendv. MX does not have it. Safe from any goroutine.
func (ep *Endpoint) IsendLevel(level SendLevel, segs [][]byte, dest EndpointAddr, matchSend uint64, context any) (Request, error) {
	if err := checkSendLevel(level); err != nil {
		return Request{}, ep.fail("isend to", dest.String(), fmt.Errorf("%w: %v: %w", ErrBadParamVal, level, err))
	}
	return ep.sendSegments(segs, dest, matchSend, endpoint.Level(level), context)
}
