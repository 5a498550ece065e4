//go:build linux

package tcp

import (
	"fmt"
	"net/netip"
	"time"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
	"gomx/transport/wire"
)

// link is a connection to one peer. All of it is under the endpoint's lock.
type link struct {
	fd   int // -1 once closed
	peer int32
	key  int32 // in port.table; -1 unless bound and open
	port *port

	// Receiving. The unparsed bytes were read, and their frames are not delivered yet. They
	// lie in own, or in the port's buffer if there is no own.
	unparsed []byte
	own      []byte
	landing  landing
	watched  bool // in port.epoll
	hot      int  // times in a row that there was something to read when nobody slept
	ready    bool // there may be something to read
	listed   bool // in port.ready
	hungUp   bool // the peer sends no more
	lean     bool // PullData is expected: read headers alone

	// Sending. First out[sent:] leaves, then what is retained.
	out      []byte
	sent     int
	retained retained
	turn     uint32        // of the port, when a frame has left at once last
	led      time.Duration // when that was, since epoch
	alone    spell         // while frames leave at once one by one
	held     int           // frames in out that wait for a poll, the first of them since led or a moment later
	waiting  bool          // in port.unsent
	full     bool          // the socket takes no more for now
	broken   error         // why nothing can be sent any more
	tls      *secure

	ended   error // why nothing more comes
	address transport.Address
	session uint32
	remote  netip.AddrPort

	credentials *transport.Credentials
}

// Caps returns what TCP can do.
func (l *link) Caps() *wire.Caps { return l.port.caps }

// Peer returns who the other side is.
func (l *link) Peer() (transport.Address, uint32) { return l.address, l.session }

// Credentials returns what the handshake has shown of the other side.
func (l *link) Credentials() transport.Credentials { return *l.credentials }

// Bind lets the link's frames be polled.
func (l *link) Bind(peer int32) {
	first := l.peer < 0
	if l.peer = peer; first && l.fd >= 0 {
		l.port.enter(l)
	}
}

// Close sends the buffered output, in a goroutine of its own if the socket is full,
// and gives everything back.
func (l *link) Close() {
	if l.fd < 0 {
		return
	}
	l.Reclaim()
	l.flush()
	l.port.leave(l)
	l.port.drop(l)
	l.port.closeLingering(l)
	l.fd = -1
	l.unparsed, l.own, l.out, l.tls = nil, nil, nil, nil
	l.landing = landing{}
}

// markReady has the next polls look at the link.
func (l *link) markReady() {
	l.ready = true
	if !l.listed {
		l.listed = true
		l.port.ready = append(l.port.ready, l)
	}
}

// finish takes a link whose end was found out of the polling, and reports that.
func (l *link) finish() {
	l.port.leave(l)
	l.broken = l.ended
	l.retained, l.landing, l.unparsed = retained{}, landing{}, nil
	l.freeOwn()
	l.freeOut()
	l.port.events.Down(l, fmt.Errorf("tcp: %v at %v: %w", l.address, l.remote, l.ended))
}

// corrupt ends a link whose bytes make no sense. Nothing of it is read again.
func (l *link) corrupt(why error) {
	l.port.events.Count(transport.CorruptFrames)
	l.ended = fmt.Errorf("%w: %w", transport.ErrCorrupt, why)
	l.finish()
}

// lost says in the contract's terms why a connection broke.
func lost(call string, e sock.Errno) error {
	return fmt.Errorf("%w: %w", transport.ErrPeerDied, sock.CallError(call, e))
}

// Export does nothing: the engine uses the pipelined rendezvous.
func (l *link) Export(dst []byte, _ *wire.Vec) ([]byte, uint64) { return dst, 0 }

// Unexport does nothing.
func (l *link) Unexport(uint64, bool) {}

// Pull is not possible.
func (l *link) Pull([]byte, *wire.Vec, int, uint64) wire.PullResult { return wire.PullFailed }
