//go:build linux && cgo

package rdma

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"gomx/transport"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/wire"
)

// link is a queue pair that is connected to one of a peer. All of it is under the
// endpoint's lock.
type link struct {
	port    *port
	caps    *wire.Caps
	peer    int32 // -1 unless bound
	address transport.Address
	session uint32
	remote  netip.AddrPort

	credentials *transport.Credentials

	conn *os.File // the connection that introduced us; its end is that of the peer
	fd   int      // of conn

	qp       *verbs.QP // nil once it is given back
	number   uint32
	expected bool // the peer may have heard of it

	// Sending.
	credits int // messages that the peer has room for
	work    work
	turn    uint32  // of the port, when a frame was sent last
	broken  error   // why nothing can be sent any more
	pulling []*pull // in the order in which they were asked for
	posting int     // the first of them that is not posted whole

	// Receiving.
	granted   int // credits granted to the peer, messages
	toReturn  int // credits to return to the peer
	returning bool
	held      []message // that wait for their turn
	listed    bool      // in port.waiting
	hungUp    bool      // the peer has closed the connection
	failing   bool      // in port.failing
	dead      bool      // the peer has sent corrupt bytes: nothing of it is read any more
	closed    bool
	leftAt    time.Time // when it was closed
}

// Caps returns what RDMA can do.
func (l *link) Caps() *wire.Caps { return l.caps }

// Peer returns who the other side is.
func (l *link) Peer() (transport.Address, uint32) { return l.address, l.session }

// Bind lets the link's frames be polled.
func (l *link) Bind(peer int32) {
	first := l.peer < 0
	if l.peer = peer; !first || l.closed {
		return
	}
	l.port.idle = 0
	if len(l.held) > 0 {
		l.wait()
	}
	if l.hungUp || l.broken != nil {
		l.port.markFailing(l, nil)
	}
}

// Reclaim does nothing: Send copies all that it is given.
func (l *link) Reclaim() {}

// caps are those of a link to a peer whose receives have so many bytes.
func (p *port) caps(slot int) *wire.Caps {
	frame := min(slot, SlotSize) - wire.MaxHeader
	return &wire.Caps{
		Name: "rdma", MaxFrame: frame, Eager: min(p.opt.Eager, frame),
		Ordered: true, Reliable: true, Pull: true, Heals: true, PullFrame: frame,
	}
}

// markFailing makes the end of a link be reported once what has arrived is delivered.
// why is nil if the reason is known already.
func (p *port) markFailing(l *link, why error) {
	if why != nil && l.broken == nil {
		l.broken = why
	}
	if !l.failing {
		l.failing = true
		p.failing = append(p.failing, l)
	}
}

// finish reports the end of a link that is bound, once nothing is left of it. It
// returns whether it could.
func (l *link) finish() bool {
	switch {
	case l.closed:
		return true
	case l.peer < 0:
		l.failing = false
		return true // Bind comes back to it
	case len(l.held) > 0:
		return false
	}
	why := l.broken
	if why == nil {
		why = fmt.Errorf("%w: it closed the connection", transport.ErrPeerDied)
		l.broken = why
	}
	l.stop()
	l.port.events.Down(l, fmt.Errorf("rdma: %v at %v: %w", l.address, l.remote, why))
	return true
}

// corrupt ends a link whose bytes make no sense. Nothing of it is read again.
func (l *link) corrupt(why error) {
	p := l.port
	p.events.Count(transport.CorruptFrames)
	l.dropHeld()
	l.dead = true
	p.markFailing(l, fmt.Errorf("%w: %w", transport.ErrCorrupt, why))
}

// dropHeld throws away what was not delivered.
func (l *link) dropHeld() {
	for _, m := range l.held {
		l.port.recycle(m.slot)
	}
	l.held = nil
}

// Credentials returns what the handshake has shown of the other side.
func (l *link) Credentials() transport.Credentials { return *l.credentials }
