package mx

import (
	"gomx/endpoint"
	"gomx/endpoint/driver"
)

// UnexpAction is what an UnexpHandler wants done with a message (VII.1.4).
type UnexpAction uint8

// The actions.
const (
	// RecvContinue: give the message to a receive that was posted meanwhile, or
	// keep it.
	RecvContinue UnexpAction = 0
	// RecvFinished: the message is dealt with; drop it. The sender of a message that
	// is synchronous, or larger than EagerTo says, gets StatusTruncated with 0 bytes, or
	// StatusSuccess if it was empty. The handler of the sender's own endpoint is shown a message whole that is
	// one segment, of any size: its sender gets StatusSuccess unless it is synchronous.
	RecvFinished UnexpAction = 1
)

// UnexpHandler is called for a message that no posted receive fits, before any
// probe can see it (VII.1.4); RegisterUnexpHandler has the exceptions. data is the message if it is here, and nil
// otherwise; it always is for messages below 1 KiB, and may be used until the
// handler returns. The handler may post receives and sends. It may block, but
// nothing progresses meanwhile. Closing the endpoint or a window is ErrCloseInHandler. It
// must return, or panic: it must not end its goroutine (runtime.Goexit), which may be
// the endpoint's own. A panic goes up from the call whose pass has run the handler, or, if
// that call has got what it waited for, from the next one on the endpoint that waits or makes
// a pass, be it another goroutine's; in the endpoint's own goroutine, while no call waits, it ends the program. Of
// several panics in one pass, one goes up.
type UnexpHandler func(context any, source EndpointAddr, matchInfo uint64, length uint32, data []byte) UnexpAction

// UnexpCallback is the older form of a handler (VII.1.3): it learns match
// information and length, and the message goes on as with RecvContinue.
type UnexpCallback func(context any, matchInfo uint64, length int)

// RegisterUnexpHandler sets the handler for unexpected messages, in place of any earlier handler or callback; nil
// removes it (VII.1.4). It runs in whichever goroutine makes progress, one message at a time. Error: ErrBadEndpoint.
// Safe from any goroutine.
//
// It is not called for messages that are stored already; probes and receives find these. The same holds for a message
// of 65 to 1023 bytes of which the peer, for lack of credit, had sent only the header before it learned of the handler:
// the bytes that the handler is promised are still with the peer, which has perhaps not heard of the handler when the call
// returns. Programs that handle all messages in the handler register it before peers connect.
func (ep *Endpoint) RegisterUnexpHandler(handler UnexpHandler, context any) error {
	var f driver.Handler
	if handler != nil {
		f = func(m *endpoint.Incoming) endpoint.Action {
			data := m.Data
			if data == nil && m.Length == 0 {
				data = []byte{}
			}
			return endpoint.Action(handler(context, EndpointAddr{ep, m.Source}, m.Match, m.Length, data))
		}
	}
	return ep.fail("register unexpected handler", "", ep.d.SetHandler(f))
}

// RegisterUnexpCallback is RegisterUnexpHandler for the older form (VII.1.3).
func (ep *Endpoint) RegisterUnexpCallback(callback UnexpCallback, context any) error {
	if callback == nil {
		return ep.RegisterUnexpHandler(nil, nil)
	}
	return ep.RegisterUnexpHandler(func(context any, _ EndpointAddr, matchInfo uint64, length uint32, _ []byte) UnexpAction {
		callback(context, matchInfo, int(length))
		return RecvContinue
	}, context)
}
