package mx

import (
	"fmt"
	"math"

	"gomx/endpoint"
)

// PendingRequest is a request that is not complete, as Pending shows it to people.
type PendingRequest struct {
	Request              Request      // zero if it was forgotten, and if it is the library's own: that of Admit, and of a Connect or a Wait that is blocked
	Kind                 string       // send, asend (acknowledged), ssend (synchronous), recv, multi-receive, connect, put, get, atomic, fetch, watch, threshold, ready (of a Listener) or connection request
	Peer                 EndpointAddr // zero: anyone; of a connect, good for no more than its name
	MatchInfo, MatchMask uint64       // of a receive that has not matched: what it waits for
	Bytes                uint32       // of the message; of a receive that has not matched: the room for it
	Stage                string       // what it waits for, such as "connecting" or "data is moving"
}

// Pending returns the requests of the endpoint that are not complete at the moment, in no particular order, to find out
// what a program waits for. The texts have no fixed form. A closed endpoint has none. MX does not have it. Safe from
// any goroutine.
func (ep *Endpoint) Pending() []PendingRequest {
	outstanding, _, _ := ep.d.Outstanding(math.MaxInt)
	list := make([]PendingRequest, len(outstanding))
	for i := range outstanding {
		o, p := &outstanding[i], &list[i]
		*p = PendingRequest{
			Kind: o.Kind, MatchInfo: o.Match, MatchMask: o.Mask, Bytes: o.Bytes, Stage: o.Stage,
		}
		if o.Handle != 0 {
			p.Request = Request{ep, o.Handle}
		}
		if o.Peer != (endpoint.Addr{}) {
			p.Peer = EndpointAddr{ep, o.Peer}
		}
	}
	return list
}

// String returns the request in a line, as in "recv from host:0/3 match 0x7 mask 0xff,
// 8 bytes: waits for its match".
func (p PendingRequest) String() string {
	if p.Kind == "threshold" || p.Kind == "ready" {
		return fmt.Sprintf("%s match %#x: %s", p.Kind, p.MatchInfo, p.Stage)
	}
	who := "anyone"
	if !p.Peer.IsZero() {
		who = p.Peer.String()
	}
	direction := "to"
	switch p.Kind {
	case "recv", "multi-receive", "get", "connection request":
		direction = "from"
	case "watch":
		direction = "of"
	}
	return fmt.Sprintf("%s %s %s match %#x mask %#x, %d bytes: %s", p.Kind, direction, who, p.MatchInfo, p.MatchMask, p.Bytes, p.Stage)
}
