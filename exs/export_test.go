package exs

import (
	"net/netip"
	"time"

	"gomx/mx"
)

// MaxPending is how many handshakes may be pending at a listener at once.
const MaxPending = maxPending

// ShareOf is the context of one of count addresses that are to be dialled.
var ShareOf = shareOf

// SetDialTime changes how long a dial of the library without a deadline may take.
func (l *Library) SetDialTime(d time.Duration) { l.dialTime = d }

// AroundPackets makes before and after run around the library's handler of unexpected messages,
// for each packet that it gets.
func (l *Library) AroundPackets(before, after func()) error {
	return l.around(func(match uint64, _ []byte) bool { return kindOf(match) == kindPacket }, before, after)
}

// AroundAnnounced makes before run before that handler for each message of data, and after behind it if the message is still with
// its sender.
func (l *Library) AroundAnnounced(before, after func()) error {
	announced := false
	return l.around(func(match uint64, data []byte) bool {
		announced = data == nil
		return kindOf(match) != kindControl
	}, before, func() {
		if announced {
			after()
		}
	})
}

// BeforeHide makes before run when the peer takes persistent memory back, of which the
// library does not know yet.
func (l *Library) BeforeHide(before func()) error { return l.beforeControl(ctlHide, before) }

// BeforeExport makes before run when the peer has persistent memory of which the library does not know yet.
func (l *Library) BeforeExport(before func()) error { return l.beforeControl(ctlExport, before) }

// BeforeUsed makes before run when a notice has come of which the library does not know yet.
func (l *Library) BeforeUsed(before func()) error { return l.beforeControl(ctlUsed, before) }

func (l *Library) beforeControl(what byte, before func()) error {
	return l.around(func(match uint64, data []byte) bool {
		return kindOf(match) == kindControl && data[0] == what
	}, before, func() {})
}

func (l *Library) around(these func(match uint64, data []byte) bool, before, after func()) error {
	return l.ep.Load().RegisterUnexpHandler(func(_ any, source mx.EndpointAddr, match uint64, length uint32, data []byte) mx.UnexpAction {
		if these(match, data) {
			before()
			defer after()
		}
		return l.unexpected(nil, source, match, length, data)
	}, nil)
}

// Receiving returns how many receives are outstanding.
func (s *Socket) Receiving() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receiving
}

// EndOn begins an operation that names a queue and ends it, as far as the queue knows.
func EndOn(q *Queue) {
	q.begin()
	q.put(&op{s: &Socket{l: q.l}, q: q})
}

// BeforeConnect makes before run when a client has asked for a connection directly, of which the library does not know yet.
func (l *Library) BeforeConnect(before func()) error { return l.beforeControl(ctlConnect, before) }

// Direct returns how many connections the library has made without TCP.
func (l *Library) Direct() uint64 { return l.counts.direct.Load() }

// AskAs has the library believe that TCP has led it to the listener at address to as it has to the one at address known.
func (l *Library) AskAs(known, to netip.AddrPort, listener *Listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := *l.routes[known]
	r.to, r.out = to, toward(listener.s.conn, listener.s.tag)
	l.routes[to] = &r
}

// CountPortsFrom has the next direct connections of the library take the ports behind another one.
func CountPortsFrom(l *Library, port uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.routes {
		r.port = port
	}
}
