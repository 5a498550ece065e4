package mem

import (
	"fmt"
	"os"

	"gomx/transport"
	"gomx/transport/wire"
)

// link is one end of a connection. The other end reads the lane that this one
// writes.
type link struct {
	port     *Port
	other    *link
	address  transport.Address // of the peer
	session  uint32            // of the peer
	in, out  *lane
	number   uint64 // no other end of a link has it
	exported exports
	pulls    pulls
}

var _ transport.Link = (*link)(nil)

func (l *link) Caps() *wire.Caps { return &l.port.net.caps }

func (l *link) Peer() (transport.Address, uint32) { return l.address, l.session }

func (l *link) Send(h *wire.Header, v *wire.Vec, off int) bool {
	if int64(h.Length) > int64(l.port.net.caps.MaxFrame) {
		panicTooLong(h, l.port.net.caps.MaxFrame)
	}
	if !l.out.put(h, v, off) {
		return false
	}
	l.other.port.ring()
	return true
}

func (l *link) Bind(peer int32) {
	if l.in.bind(peer) {
		l.port.ring()
	}
}

// poll delivers frames, and reports how many, and whether the handler wants more. A writer that waits for
// room is rung once for all of them.
func (l *link) poll(h transport.Handler, step uint64, budget int) (delivered int, more bool) {
	if l.pulls.dice == nil && !l.in.news.Load() {
		return 0, true
	}
	delivered, more = l.deliver(h, step, budget)
	if delivered > 0 && l.in.answersWant() {
		l.other.port.ring()
	}
	return delivered, more
}

func (l *link) deliver(h transport.Handler, step uint64, budget int) (delivered int, more bool) {
	delivered = l.finishPulls(h, step)
	f, peer := l.in.next(nil, step)
	for f != nil {
		more = h.Frame(peer, &f.header, f.payload)
		if delivered++; delivered >= budget || !more {
			l.in.release(f)
			return delivered, more
		}
		f, peer = l.in.next(f, step)
	}
	if reason := l.in.takeEnd(); reason != nil {
		l.pulls.forget()
		l.tellDown(reason)
	}
	return delivered, true
}

// tellDown uses a goroutine because poll runs with the endpoint's lock held,
// which Events need not expect.
func (l *link) tellDown(reason error) {
	go l.port.events.Down(l, fmt.Errorf("mem: link to %v: %w", l.address, reason))
}

func (l *link) Close() {
	l.port.forget(l)
	l.end(transport.ErrClosed)
}

// end tells the peer why this side is gone and lets go of what the link holds.
func (l *link) end(reason error) {
	l.exported.clear()
	l.pulls.forget()
	l.in.abandon()
	if l.out.finish(reason) {
		l.other.port.ring()
	}
}

func panicTooLong(h *wire.Header, limit int) {
	panic(fmt.Sprintf("mem: %v frame of %d bytes, at most %d are allowed", h.Kind, h.Length, limit))
}

// Reclaim does nothing: the link copies what it is given.
func (l *link) Reclaim() {}

// Credentials returns those of this process.
func (l *link) Credentials() transport.Credentials {
	return transport.Credentials{PID: os.Getpid(), UID: os.Geteuid()}
}
