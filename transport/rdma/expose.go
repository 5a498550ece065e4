//go:build linux && cgo

package rdma

import (
	"encoding/binary"

	"gomx/transport/rdma/internal/gather"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/wire"
)

// A peer may read memory that we have exposed at any time, also when the send it
// belongs to has just ended and the buffer has been used again. Memory that is
// registered for one message is out of its reach then. For other memory, each
// exposure has a ticket, a number that no other exposure of the endpoint has, and that is
// gone when it ends: bytes count only if the ticket, read after them, is still the one described.
//
//	0             8     12  16       24
//	+-------------+-----+---+--------+----------------+
//	| ticket addr | key | 0 | number | places (gather)|
//	+-------------+-----+---+--------+----------------+
const ticketHead = 24

// exposures are those of all links; the first is never used.
type exposures struct {
	list   []exposure
	free   []uint32
	number uint64 // of the last ticket
}

type exposure struct {
	link    *link // nil: free
	ticket  uint32
	bounce  uint32
	bounced bool // the bytes are in that slot of port.bounce
	regions []*verbs.Region
	spots   []spot
	places  []gather.Place
}

func (e *exposures) take() (token uint32, x *exposure) {
	if n := len(e.free); n > 0 {
		token, e.free = e.free[n-1], e.free[:n-1]
	} else {
		if len(e.list) == 0 {
			e.list = append(e.list, exposure{})
		}
		token = uint32(len(e.list))
		e.list = append(e.list, exposure{})
	}
	return token, &e.list[token]
}

// Expose describes where v lies. What can't be described, because there are no
// tickets or memory can't be registered, gets no description: its bytes go by blocks.
func (l *link) Expose(dst []byte, v *wire.Vec) ([]byte, uint64) {
	p := l.port
	ticket, ok := p.tickets.Take()
	if !ok || l.closed || l.broken != nil {
		if ok {
			p.tickets.Give(ticket)
		}
		return dst, 0
	}
	token, x := p.exposed.take()
	x.link, x.ticket, x.bounced = l, ticket, false
	if err := p.reach(x, v); err != nil {
		p.unexpose(token)
		return dst, 0
	}
	le := binary.LittleEndian
	p.exposed.number++
	le.PutUint64(p.tickets.Bytes(ticket), p.exposed.number)
	addr, key := p.tickets.Place(ticket)
	dst = le.AppendUint64(dst, addr)
	dst = le.AppendUint64(dst, uint64(key))
	dst = le.AppendUint64(dst, p.exposed.number)
	return gather.Describe(dst, x.places...), uint64(token)
}

// reach makes the bytes of v readable for peers, where they lie or, if they are few
// and not registered, in a copy.
func (p *port) reach(x *exposure, v *wire.Vec) (err error) {
	x.places, x.spots = x.places[:0], x.spots[:0]
	n := v.Len()
	if n <= p.bounceMost && !p.memory.allLong(v, n) {
		if x.bounce, x.bounced = p.bounce.Take(); x.bounced {
			v.Gather(p.bounce.Bytes(x.bounce)[:n], 0)
			addr, key := p.bounce.Place(x.bounce)
			x.places = append(x.places, gather.Place{Addr: addr, Length: uint32(n), Key: key})
			return nil
		}
	}
	x.spots, err = p.memory.spots(x.spots, &x.regions, v, n, verbs.RemoteRead)
	for _, s := range x.spots {
		x.places = append(x.places, gather.Place{
			Addr: s.region.Addr() + uint64(s.off), Length: uint32(s.n), Key: s.region.RemoteKey(),
		})
	}
	return err
}

// Unexpose makes reads that are not finished by now worthless.
func (l *link) Unexpose(token uint64) {
	p := l.port
	if token != 0 && p.exposed.list[token].link == l {
		p.unexpose(uint32(token))
	}
}

func (p *port) unexpose(token uint32) {
	x := &p.exposed.list[token]
	binary.LittleEndian.PutUint64(p.tickets.Bytes(x.ticket), 0)
	p.tickets.Give(x.ticket)
	if x.bounced {
		p.bounce.Give(x.bounce)
	}
	p.memory.end(x.regions)
	x.link, x.bounced, x.regions = nil, false, x.regions[:0]
	p.exposed.free = append(p.exposed.free, token)
}

// unexposeAll ends the exposures of a link.
func (p *port) unexposeAll(l *link) {
	for token := range p.exposed.list {
		if p.exposed.list[token].link == l {
			p.unexpose(uint32(token))
		}
	}
}
