//go:build linux && cgo

package rdma

import (
	"encoding/binary"

	"gomx/transport/rdma/internal/gather"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/wire"
)

// A peer may read memory that we have exported at any time, also when the send it
// belongs to has just ended and the buffer is in use again. Memory that was registered
// for one message is out of the peer's reach then. For other memory, each export has a
// ticket: a number that no other export of the endpoint has, and that changes when the
// export ends. The peer reads the ticket after the bytes, and accepts them only if the
// ticket is still that of the memory descriptor.
//
//	0             8     12  16       24
//	+-------------+-----+---+--------+----------------+
//	| ticket addr | key | 0 | number | segments (gather)|
//	+-------------+-----+---+--------+----------------+
const ticketHead = 24

// exports are those of all links; the first is never used.
type exports struct {
	list   []export
	free   []uint32
	number uint64 // of the last ticket
}

type export struct {
	link     *link // nil: free
	ticket   uint32
	bounce   uint32
	bounced  bool // the bytes are in that slot of port.bounce
	regions  []*verbs.Region
	spots    []spot
	segments []gather.Segment
}

func (e *exports) take() (token uint32, x *export) {
	if n := len(e.free); n > 0 {
		token, e.free = e.free[n-1], e.free[:n-1]
	} else {
		if len(e.list) == 0 {
			e.list = append(e.list, export{})
		}
		token = uint32(len(e.list))
		e.list = append(e.list, export{})
	}
	return token, &e.list[token]
}

// Export appends a memory descriptor of v. It appends nothing if there are no tickets, or if the memory
// can't be registered; the bytes then go by pipelined rendezvous.
func (l *link) Export(dst []byte, v *wire.Vec) ([]byte, uint64) {
	p := l.port
	ticket, ok := p.tickets.Take()
	if !ok || l.closed || l.broken != nil {
		if ok {
			p.tickets.Give(ticket)
		}
		return dst, 0
	}
	token, x := p.exported.take()
	x.link, x.ticket, x.bounced = l, ticket, false
	if err := p.reach(x, v); err != nil {
		p.unexport(token)
		return dst, 0
	}
	le := binary.LittleEndian
	p.exported.number++
	le.PutUint64(p.tickets.Bytes(ticket), p.exported.number)
	addr, key := p.tickets.RemoteAddr(ticket)
	dst = le.AppendUint64(dst, addr)
	dst = le.AppendUint64(dst, uint64(key))
	dst = le.AppendUint64(dst, p.exported.number)
	return gather.AppendDescriptor(dst, x.segments...), uint64(token)
}

// reach makes the bytes of v readable for peers, where they lie or, if they are few
// and not registered, in a copy.
func (p *port) reach(x *export, v *wire.Vec) (err error) {
	x.segments, x.spots = x.segments[:0], x.spots[:0]
	n := v.Len()
	if n <= p.bounceMost && !p.memory.allLong(v, n) {
		if x.bounce, x.bounced = p.bounce.Take(); x.bounced {
			v.Gather(p.bounce.Bytes(x.bounce)[:n], 0)
			addr, key := p.bounce.RemoteAddr(x.bounce)
			x.segments = append(x.segments, gather.Segment{Addr: addr, Length: uint32(n), Key: key})
			return nil
		}
	}
	x.spots, err = p.memory.spots(x.spots, &x.regions, v, n, verbs.RemoteRead)
	for _, s := range x.spots {
		x.segments = append(x.segments, gather.Segment{
			Addr: s.region.Addr() + uint64(s.off), Length: uint32(s.n), Key: s.region.RemoteKey(),
		})
	}
	return err
}

// Unexport makes reads that are not finished by now worthless. It can't see whether the peer's card still carries one out.
func (l *link) Unexport(token uint64, _ bool) {
	p := l.port
	if token != 0 && p.exported.list[token].link == l {
		p.unexport(uint32(token))
	}
}

func (p *port) unexport(token uint32) {
	x := &p.exported.list[token]
	binary.LittleEndian.PutUint64(p.tickets.Bytes(x.ticket), 0)
	p.tickets.Give(x.ticket)
	if x.bounced {
		p.bounce.Give(x.bounce)
	}
	p.memory.end(x.regions)
	x.link, x.bounced, x.regions = nil, false, x.regions[:0]
	p.exported.free = append(p.exported.free, token)
}

// unexportAll ends the exports of a link.
func (p *port) unexportAll(l *link) {
	for token := range p.exported.list {
		if p.exported.list[token].link == l {
			p.unexport(uint32(token))
		}
	}
}
