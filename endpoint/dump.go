package endpoint

import (
	"fmt"
	"strings"

	"gomx/unexpected"
)

var stateNames = [...]string{
	stateQueued: "queued", stateUnpaid: "unpaid", stateOffered: "offered", stateBuffered: "buffered", statePosted: "posted", stateTied: "tied",
	statePulling: "pulling", stateWaiting: "waiting", stateAsked: "asked",
	stateWatching: "watching", stateCounting: "counting", stateSpent: "spent", stateHeld: "held", stateReady: "ready", stateUndecided: "held", stateComplete: "complete",
}

var kindNames = [...]string{
	kindSend: "send", kindAckedSend: "asend", kindSyncSend: "ssend", kindRecv: "recv", kindConnect: "connect",
	kindPut: "put", kindGet: "get", kindAtomic: "atomic", kindFetch: "fetch", kindPutIn: "peer's put", kindGetOut: "peer's get", kindFetchOut: "peer's fetch",
	kindWatch: "watch", kindThreshold: "threshold",
	kindRecvMulti: "multi-receive", kindPart: "part", kindVisit: "connection request",
}

var peerStateNames = [...]string{
	peerAbsent: "absent", peerDialing: "dialing", peerConnected: "connected", peerGone: "gone",
	peerStranger: "stranger",
}

// DumpState describes the endpoint for people: its peers, every request with its
// stage and its age in ticks, and the unexpected messages, oldest first. The
// text has no fixed form.
func (e *Engine) DumpState() string {
	var b strings.Builder
	for _, p := range e.peers[1:] {
		if p.state != peerFree {
			e.dumpPeer(&b, p)
		}
	}
	e.eachRequest(func(_ int32, r *request) { e.dumpRequest(&b, r) })
	e.windows.dump(&b)
	e.unexp.Each(func(id int32, m *unexpected.Message) {
		where := [...]string{storedEager: "here", storedRemote: "with the sender", storedSelf: "with our send"}[m.Kind]
		what := "unexpected"
		if e.unexp.Claimed(id) {
			what = "claimed"
		}
		fmt.Fprintf(&b, "%s from %s match %#x bytes %d %s\n", what, e.peers[m.Peer].name(), m.Match, m.Length, where)
	})
	if e.paused {
		b.WriteString("progression is disabled\n")
	}
	return b.String()
}

func (p *peer) name() string { return fmt.Sprintf("%x/%d", p.at.nic, p.at.endpoint) }

func (e *Engine) dumpPeer(b *strings.Builder, p *peer) {
	fmt.Fprintf(b, "peer %s %s", p.name(), peerStateNames[p.state])
	switch {
	case p.link == nil:
		b.WriteString(" no link")
	case p.state == peerConnected:
		fmt.Fprintf(b, " %s sessions %#x %#x seq %#x %#x", p.medium.Name, p.local, p.remote, p.sendSeq, p.recvSeq)
	default:
		fmt.Fprintf(b, " %s", p.medium.Name)
	}
	if p.state == peerGone {
		fmt.Fprintf(b, " (%v)", p.goneCode)
	}
	if n := p.greetings.len() + p.control.len() + p.jobs.len(); n > 0 {
		fmt.Fprintf(b, " frames waiting %d", n)
	}
	if p.log != nil && p.log.outstanding() > 0 {
		fmt.Fprintf(b, " unacknowledged %d", p.log.outstanding())
	}
	if p.rel != nil && p.rel.early.count > 0 {
		fmt.Fprintf(b, " early %d", p.rel.early.count)
	}
	if p.broken() {
		fmt.Fprintf(b, " link broken for %d", e.now-p.heal.since)
	}
	if p.waiting.head != none {
		b.WriteString(" no message credit from it")
	}
	if p.bytes.hungry || p.headers.hungry {
		b.WriteString(" no credit left for it")
	}
	b.WriteByte('\n')
}

func (e *Engine) dumpRequest(b *strings.Builder, r *request) {
	fmt.Fprintf(b, "%s %s", kindNames[r.kind], stateNames[r.state])
	if r.state != statePosted {
		fmt.Fprintf(b, " peer %s", e.peers[r.peer].name())
	}
	served := r.serves()
	if served {
		fmt.Fprintf(b, " window %d", windowSlot(r.window)) // the rest of its name is a secret
	} else {
		fmt.Fprintf(b, " match %#x", r.match)
	}
	switch r.state {
	case statePosted, stateTied:
		fmt.Fprintf(b, " mask %#x room %d", r.counts(), r.vec.Len())
	case statePulling:
		if r.pull != none {
			fmt.Fprintf(b, " bytes %d of %d", e.pulls.items[r.pull].got, r.xferLen)
			break
		}
		fallthrough
	default:
		fmt.Fprintf(b, " bytes %d", r.msgLen)
	}
	if r.state == stateComplete {
		fmt.Fprintf(b, " %v", r.code)
	} else {
		fmt.Fprintf(b, " age %d", e.now-r.started)
	}
	if r.unbegun() {
		fmt.Fprintf(b, " %s", e.heldFor(r))
	}
	if r.flags&forgotten != 0 && !served {
		b.WriteString(" forgotten")
	}
	b.WriteByte('\n')
}
