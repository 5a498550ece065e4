package endpoint

import (
	"fmt"

	"gomx/match"
)

// Outstanding describes a request that is not complete, for people.
type Outstanding struct {
	Handle      Handle // 0 if its user has forgotten it
	Kind        string
	Peer        Addr // zero: anyone's message will do; of a connect: without a session
	Match, Mask uint64
	Bytes       uint32 // of the message, or of the room for it
	Stage       string // what it waits for
	Held        bool   // it waits for a counter of ours, and not for its peer
	Started     Tick   // when it was begun, or somewhat earlier: that of the Advance before, for some kinds
}

// Outstanding returns the requests that are not complete, but no more than most, and how many there are. Receives that wait for their match come
// last, so that those who have posted many still see what waits for a peer; there is no order besides. What is done for peers is not among them.
func (e *Engine) Outstanding(most int) (list []Outstanding, all int) {
	for _, posted := range []bool{false, true} {
		e.eachRequest(func(slot int32, r *request) {
			if r.state == stateComplete || r.serves() || (r.state == statePosted || r.state == stateTied) != posted {
				return
			}
			if all++; all <= most {
				list = append(list, e.outstanding(slot, r))
			}
		})
	}
	return list, all
}

func (e *Engine) outstanding(slot int32, r *request) Outstanding {
	o := Outstanding{
		Kind: kindNames[r.kind], Match: r.match, Mask: r.counts(),
		Bytes: r.msgLen, Stage: e.stage(r), Held: r.unbegun(), Started: r.started,
	}
	if e.forVisits(r) {
		o.Kind = stateNames[stateReady]
	}
	switch {
	case r.kind == kindPart:
		o.Kind = kindNames[kindRecv] // the multi-receive is listed, too, and its handle is the one that there is
	case r.flags&queued != 0 && e.queues[r.queue].ours:
	case r.flags&forgotten == 0:
		o.Handle = handleOf(slot, r.generation)
	}
	if r.state == statePosted || r.state == stateTied {
		o.Bytes = uint32(min(uint64(r.vec.Len()), MaxMessage))
	}
	if r.state != statePosted && r.state != stateCounting && r.state != stateSpent {
		o.Peer = Addr{e.shown(r.peer), r.session}
	}
	if from, directed := e.directed[slot]; directed && r.state == statePosted {
		o.Peer = Addr{from, max(1, e.peers[from].remote)}
	}
	return o
}

// counts returns the bits that count for a receive. What has matched counts as a whole.
func (r *request) counts() uint64 {
	if r.state == statePosted || r.state == stateTied {
		return r.mask
	}
	return match.MaskNone
}

// forVisits reports whether a threshold is a wait for a connection request: it is of the counter of those.
func (e *Engine) forVisits(r *request) bool {
	return r.state == stateCounting && e.adm.asked && r.window == uint64(e.adm.counter)
}

// stage says what a request waits for.
func (e *Engine) stage(r *request) string {
	switch {
	case r.kind == kindRecvMulti && r.state == statePosted:
		return "takes messages"
	case r.state == statePosted:
		return "waits for its match"
	case r.unbegun():
		return e.heldFor(r)
	}
	p := e.peers[r.peer]
	if p.broken() {
		return "waits for the link to heal"
	}
	switch r.state {
	case stateSpent:
		return "waits for messages that are arriving in it"
	case stateCounting:
		if e.forVisits(r) {
			return "waits for a connection request"
		}
		return fmt.Sprintf("waits for counter %d to come to %d: it is at %d", r.window, r.remote, e.queues[r.window].counter.total())
	case stateUnpaid:
		return "waits for the peer to receive: no message credit"
	case stateTied:
		return "waits for its match"
	case stateUndecided:
		return "waits for the program to accept or reject it"
	case stateWaiting:
		if r.underReview() {
			return "waits for the program at the peer to accept it"
		}
		return "connecting"
	case stateQueued:
		if p.link == nil && !e.local(p) {
			return "connecting"
		}
		return "waits for room in the link"
	case stateOffered:
		if r.flags&pushed != 0 {
			return "data is moving"
		}
		return "waits for the peer to match and fetch it"
	case stateBuffered:
		if r.kind == kindAckedSend {
			return "waits for the peer to acknowledge it"
		}
		return "waits for the peer to match it"
	case statePulling:
		return "data is moving"
	case stateAsked:
		return "waits for the peer's data"
	}
	return "waits for the end of the session"
}
