//go:build linux && cgo

package rdma

import (
	"encoding/binary"

	"gomx/transport"
	"gomx/transport/rdma/internal/gather"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/wire"
)

// mostRead is how many bytes one read fetches: so many that its cost does not count,
// and so few that others get their turn.
const mostRead = 1 << 20

// pull fetches one message with reads: its bytes, and then its ticket.
type pull struct {
	id      uint64
	cut     gather.Cutter
	far     []gather.Segment
	near    []verbs.Piece
	spots   []spot
	regions []*verbs.Region
	vec     wire.Vec
	n       int
	bounce  uint32
	bounced bool     // the bytes come into that slot of port.bounce first
	landing wire.Vec // where they come to

	ends     []readEnd // of the reads that are posted
	sentinel [sentinelSize]byte

	ticket struct {
		slot         uint32 // of port.tickets: where it is read into
		addr, number uint64
		key          uint32
	}
}

// finished is a pull whose end has to be reported.
type finished struct {
	id uint64
	ok bool
}

// Pull begins to read n bytes of the memory of a peer's memory descriptor. It declines if there is
// no descriptor, or if the memory here can't be registered.
func (l *link) Pull(desc []byte, v *wire.Vec, n int, id uint64) wire.PullResult {
	p := l.port
	if len(desc) == 0 || l.closed || l.broken != nil {
		return wire.PullDeclined
	}
	g := p.newPull()
	g.id, g.vec, g.n = id, *v, n
	if !g.parse(desc) {
		p.events.Count(transport.CorruptFrames)
		p.freePull(g)
		return wire.PullFailed
	}
	slot, ok := p.tickets.Take()
	if !ok {
		p.freePull(g)
		return wire.PullDeclined
	}
	g.ticket.slot = slot
	if p.land(g) != nil {
		p.endPull(g)
		return wire.PullDeclined
	}
	g.cut.Start(g.far, g.near, n, p.maxPieces, mostRead)
	l.pulling = append(l.pulling, g)
	l.read()
	return wire.PullStarted
}

// parse decodes the peer's memory descriptor.
func (g *pull) parse(desc []byte) bool {
	if len(desc) < ticketHead {
		return false
	}
	le := binary.LittleEndian
	g.ticket.addr, g.ticket.key, g.ticket.number = le.Uint64(desc), le.Uint32(desc[8:]), le.Uint64(desc[16:])
	var bytes int
	var err error
	g.far, bytes, err = gather.ParseDescriptor(g.far[:0], desc[ticketHead:])
	return err == nil && bytes >= g.n
}

// land chooses where the device writes the bytes: into the receiver's buffer, or into a slot of
// the bounce pool, from where they are copied, if they are few and the buffer is not registered.
func (p *port) land(g *pull) (err error) {
	g.near, g.spots = g.near[:0], g.spots[:0]
	if g.n <= p.bounceMost && !p.memory.allLong(&g.vec, g.n) {
		if g.bounce, g.bounced = p.bounce.Take(); g.bounced {
			g.near = append(g.near, p.bounce.Piece(g.bounce, g.n))
			g.landing = wire.Vec{First: p.bounce.Bytes(g.bounce)[:g.n]}
			return nil
		}
	}
	g.landing = g.vec
	g.spots, err = p.memory.spots(g.spots, &g.regions, &g.vec, g.n, verbs.LocalWrite)
	for _, s := range g.spots {
		g.near = append(g.near, s.region.Piece(s.off, s.n))
	}
	return err
}

// read posts reads of the link's pulls, in their order, as far as there is room.
func (l *link) read() {
	p := l.port
	if l.posting == len(l.pulling) || l.closed || l.broken != nil {
		return
	}
	var pieces [mostPieces]verbs.Piece
	for l.posting < len(l.pulling) && l.work.reads < readsAtOnce && l.work.len() < workDepth && p.signals < p.maxSignals {
		p.begin(l)
		g := l.pulling[l.posting]
		i := item{kind: readItem, pull: g}
		if !g.cut.Done() {
			r := g.cut.Next(pieces[:0])
			if p.soft {
				g.placeSentinel(r.Len())
			}
			f := l.signal(&i, 0)
			p.sends.Read(uint64(l.work.add(i)), f, r.From, r.Key, r.Into...)
		} else {
			// Reads of a queue pair are carried out in their order (InfiniBand 10.8.3.3),
			// so the number is as it was after the bytes.
			i.kind = lastItem
			binary.LittleEndian.PutUint64(p.tickets.Bytes(g.ticket.slot), ^g.ticket.number)
			f := l.signal(&i, 0)
			p.sends.Read(uint64(l.work.add(i)), f, g.ticket.addr, g.ticket.key, p.tickets.Piece(g.ticket.slot, ticketSize))
			l.posting++
		}
		if p.sends.Full() {
			p.post()
		}
	}
	p.post()
}

// pulled is the end of a pull whose reads are done.
func (l *link) pulled(g *pull) {
	p := l.port
	l.pulling = l.pulling[:copy(l.pulling, l.pulling[1:])]
	l.posting--
	ok := binary.LittleEndian.Uint64(p.tickets.Bytes(g.ticket.slot)) == g.ticket.number && g.arrived()
	if !l.closed {
		if ok && g.bounced {
			g.vec.Scatter(0, g.landing.First)
		}
		p.finished = append(p.finished, finished{g.id, ok})
	}
	p.endPull(g)
}

// endPulls gives back what the pulls of a link have. Its queue pair is gone.
func (l *link) endPulls() {
	for _, g := range l.pulling {
		l.port.endPull(g)
	}
	l.pulling, l.posting = nil, 0
}

// endPull gives back what a pull has, a landing ticket among it.
func (p *port) endPull(g *pull) {
	p.tickets.Give(g.ticket.slot)
	if g.bounced {
		p.bounce.Give(g.bounce)
	}
	p.memory.end(g.regions)
	p.freePull(g)
}

func (p *port) newPull() *pull {
	if n := len(p.pulls); n > 0 {
		g := p.pulls[n-1]
		p.pulls = p.pulls[:n-1]
		return g
	}
	return new(pull)
}

func (p *port) freePull(g *pull) {
	g.vec, g.landing, g.bounced = wire.Vec{}, wire.Vec{}, false
	g.regions, g.ends = g.regions[:0], g.ends[:0]
	p.pulls = append(p.pulls, g)
}
