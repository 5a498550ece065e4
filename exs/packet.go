package exs

import (
	"gomx/mx"
)

// maxOutstanding bounds the packets that have been sent and not taken by the peer, whatever the credits.
const maxOutstanding = 1 << 12

// packets is the state of a SeqPacket socket. Packets are numbered from 0 on, and so are
// receives: a packet goes to the receive with its number.
type packets struct {
	window   uint32 // credits: packets that may have been sent and not taken by the peer
	sent     uint32
	acked    uint32 // of the packets sent, those that the peer has taken
	fed      uint32 // of the packets sent, those that are known to precede what is written to the peer's persistent receive
	taken    uint32 // packets of the peer that receives have taken
	returned uint32 // of the packets taken, those whose credits were returned to the peer
	next     uint32 // number of the next receive
	total    int64  // packets that the peer sends in all; -1: not known yet
	passed   passed // the newest packet that the handler has left to the endpoint

	waiting deque // sends that wait for credits
	posted  deque // receives at the endpoint
	line    deque // looks, receives behind looks, and receives in place; posted receives come before them (line.go)
	held    []held
}

// wanted reports whether receives or looks wait for packets.
func (p *packets) wanted() bool { return p.posted.len()+p.line.len() > 0 }

// noPackets is the state of a new socket.
var noPackets = packets{total: -1}

// held is a packet that has arrived before its receive.
type held struct {
	data   []byte // nil: it is still with the sender
	length int
	coming bool // it is on its way into data
}

// sendPacket sends a packet, or queues it if there are no credits.
func (s *Socket) sendPacket(o *op) {
	p := &s.packets
	if p.waiting.len() > 0 || p.sent-p.acked >= p.window {
		p.waiting.push(o)
		return
	}
	s.transmit(o)
}

func (s *Socket) transmit(o *op) {
	p := &s.packets
	match := s.packetMatch()
	p.sent++
	p.returned = p.taken
	ep := s.l.ep.Load()
	if o.iov == nil && ep.SendNow(o.buf, s.peer, match) {
		o.length = len(o.buf)
		s.finish(o, 0)
		return
	}
	var err error
	o.fetched = s.isFetched(o.size())
	switch {
	case o.iov == nil && o.fetched:
		o.req, err = s.l.post(ep.Issend(o.buf, s.peer, match, o))
	case o.iov == nil:
		o.req, err = s.l.post(ep.Isend(o.buf, s.peer, match, o))
	case o.fetched:
		o.req, err = s.l.post(ep.Issendv(o.iov, s.peer, match, o))
	default:
		o.req, err = s.l.post(ep.Isendv(o.iov, s.peer, match, o))
	}
	if err != nil {
		s.finish(o, ENETDOWN)
		s.tear(ENETDOWN)
	}
}

// isFetched reports whether a packet of that size will probably stay here until the peer fetches it, which depends on the link. In
// that case a synchronous send takes no longer than a standard one, and only a synchronous send learns that the peer has
// discarded the packet.
func (s *Socket) isFetched(size int) bool {
	ep := s.l.ep.Load()
	eager, err := ep.EagerTo(s.peer)
	return err == nil && size > eager && (s.peer != ep.Addr() || s.l.isOwnPeer())
}

// packetMatch is the match information of the next packet.
func (s *Socket) packetMatch() uint64 {
	p := &s.packets
	return kindPacket<<kindShift | s.out | uint64(p.sent&seqMask)<<seqShift | uint64(p.taken&seqMask)
}

// packetOut ends a send.
func (s *Socket) packetOut(o *op, st *mx.Status) {
	switch {
	case s.fate != 0:
		s.finish(o, s.fate) // it is not known whether the peer has taken the packet
	case st.Code == mx.StatusTruncated && st.XferLength == 0 && s.stops:
		s.finish(o, EPIPE)
	case st.Code == mx.StatusTruncated && !o.fetched: // discarded by the peer, whose reason will arrive in a moment
		s.finish(o, ECONNRESET)
	case st.Code == mx.StatusSuccess, st.Code == mx.StatusTruncated: // cut, or held by the peer's library
		o.length = int(st.MsgLength)
		s.finish(o, 0)
	default:
		n := statusErrno(st.Code)
		s.finish(o, n)
		s.lose(n)
	}
}

// statusErrno is the number for a message that did not get through.
func statusErrno(c mx.StatusCode) Errno {
	switch c {
	case mx.StatusTimeout:
		return ETIMEDOUT
	case mx.StatusNoResources:
		return ENOBUFS
	}
	return ECONNRESET
}

// acknowledge handles the number of packets that the peer has taken, of which only the low bits are sent. A number that is older than
// an earlier one is ignored.
func (s *Socket) acknowledge(taken uint32) {
	p := &s.packets
	if d := since(taken&seqMask, p.acked); d != 0 && d <= p.sent-p.acked {
		p.acked += d
	}
	for p.waiting.len() > 0 && p.sent-p.acked < p.window {
		s.transmit(p.waiting.pop())
	}
}

// took counts a packet that was taken, and notifies the peer early enough that the peer waits only for packets that this program
// keeps.
func (s *Socket) took() {
	p := &s.packets
	p.taken++
	s.tellTaken()
}

// receiveNow completes a receive with a packet that has arrived already, or posts it.
func (s *Socket) receiveNow(o *op) {
	p := &s.packets
	if s.nothingComes() {
		o.ended = true
		p.posted.push(o)
		s.endInTurn()
		return
	}
	o.seq = p.next
	p.next++
	if len(p.held) > 0 {
		h := s.unhold()
		if h.data != nil {
			s.deliver(o, h.data)
			return
		}
	}
	s.postPacket(o)
}

// nothingComes reports whether no packet will arrive for another receive or look.
func (s *Socket) nothingComes() bool { return s.life.AtEnd() || s.dry() }

func (s *Socket) unhold() held {
	p := &s.packets
	h := p.held[0]
	p.held[0] = held{}
	if p.held = p.held[1:]; len(p.held) == 0 {
		p.held = nil
	}
	return h
}

// deliver completes a receive with a packet that was held.
func (s *Socket) deliver(o *op, data []byte) {
	o.length = scatter(o, data)
	o.lost = len(data) - o.length
	s.special.drop(data)
	s.took()
	s.finish(o, 0)
}

// scatter copies to the buffer of an operation.
func scatter(o *op, data []byte) int {
	n := copy(o.buf, data)
	for _, b := range o.iov {
		n += copy(b, data[n:])
	}
	return n
}

func (s *Socket) postPacket(o *op) {
	ep := s.l.ep.Load()
	match := kindPacket<<kindShift | toward(s.conn, s.tag)
	var err error
	if o.iov == nil {
		o.req, err = s.l.post(ep.Irecv(o.buf, match, forSocket, o))
	} else {
		o.req, err = s.l.post(ep.Irecvv(o.iov, match, forSocket, o))
	}
	if err != nil {
		s.finish(o, ENETDOWN)
		return
	}
	s.packets.posted.push(o)
}

// packetIn ends a receive.
func (s *Socket) packetIn(o *op, st *mx.Status) {
	s.packets.posted.remove(o)
	s.handedOver(st)
	switch {
	case st.Code != mx.StatusSuccess && st.Code != mx.StatusTruncated:
		n := statusErrno(st.Code)
		if s.fate != 0 {
			n = s.fate
		}
		s.finish(o, n)
		s.tear(n)
	case st.Source != s.peer:
		s.l.counts.nonsense.Add(1)
		s.finish(o, ECONNRESET)
		s.tear(ECONNRESET)
	default:
		o.length, o.lost = int(st.XferLength), int(st.MsgLength-st.XferLength)
		s.acknowledge(ackOf(st.MatchInfo))
		s.took()
		s.finish(o, 0)
	}
	s.endInTurn()
}

// packetHere handles a packet for which no receive was posted.
func (s *Socket) packetHere(match uint64, length uint32, data []byte) mx.UnexpAction {
	p := &s.packets
	s.acknowledge(ackOf(match))
	if s.life.AtEnd() || s.fate != 0 {
		s.took()
		return mx.RecvFinished
	}
	expected := p.next + uint32(len(p.held))
	ahead := int16(uint16(seqOf(match)) - uint16(expected))
	switch {
	case ahead < 0: // its receive was posted in the meantime
		p.passed = passed{end: expected + uint32(int32(ahead)) + 1, length: int(length)}
		return mx.RecvContinue
	case ahead > 0:
		s.l.counts.nonsense.Add(1)
		s.tear(ECONNRESET)
		return mx.RecvFinished
	case len(p.held) >= maxOutstanding:
		s.tear(ECONNRESET) // the peer has exceeded the window
		return mx.RecvFinished
	}
	if data != nil && s.inPlaceHere(data) {
		return mx.RecvFinished
	}
	h := held{length: int(length)}
	action := mx.RecvContinue
	if data != nil {
		h.data = s.special.keep(data)
		action = mx.RecvFinished
		s.l.counts.held.Add(1)
	}
	p.held = append(p.held, h)
	return action // settle completes the first in line with it
}

// packetsEnd notes that the peer will send no more than total packets.
func (s *Socket) packetsEnd(total uint32) {
	p := &s.packets
	p.total = int64(total)
	s.endReceives(func(o *op) bool { return int32(o.seq-total) >= 0 })
	s.endAccess(toRead, 0)
	s.leaveAll(toWrite)
}

// endReceives ends the receives for which no packet will arrive, beginning with the newest.
func (s *Socket) endReceives(over func(o *op) bool) {
	p := &s.packets
	ep := s.l.ep.Load()
	for i := p.posted.len() - 1; i >= 0; i-- {
		o := p.posted.at(i)
		if !over(o) {
			break
		}
		if !o.ended {
			o.ended, _ = ep.Cancel(o.req)
		}
	}
	s.endInTurn()
}

// endInTurn finishes receives for which no packet will arrive, as soon as the receives before them have ended.
func (s *Socket) endInTurn() {
	for p := &s.packets; p.posted.len() > 0 && p.posted.at(0).ended; {
		s.finish(p.posted.pop(), s.endOfPackets())
	}
}

// tearPackets ends all operations.
func (s *Socket) tearPackets(n Errno) {
	p := &s.packets
	for p.waiting.len() > 0 {
		s.finish(p.waiting.pop(), n)
	}
	s.endReceives(func(*op) bool { return true })
	for p.line.len() > 0 {
		s.finish(p.line.pop(), n)
	}
	p.held = nil
	s.endPersistence(n)
}

// stopReceiving ends the direction towards this side because the program wants that.
func (s *Socket) stopReceiving() {
	p := &s.packets
	s.endReceives(func(*op) bool { return true })
	s.endAccess(toRead, 0)
	s.conceal(toWrite, 0)
	for range p.held {
		s.took()
	}
	p.held = nil
	s.moveLine()
	s.discardStray()
	s.sweep(kindPacket)
}

// sweep discards the messages in the endpoint's store that are for a socket which accepts no more messages of these kinds.
func (s *Socket) sweep(kinds ...uint64) {
	ep := s.l.ep.Load()
	if ep == nil || s.out == 0 && s.peer.IsZero() {
		return
	}
	for _, kind := range kinds {
		for range maxOutstanding {
			r, err := s.l.post(ep.Irecv(nil, kind<<kindShift|toward(s.conn, s.tag), forSocket, nil))
			if err != nil {
				return
			}
			if fate, _, err := ep.Abandon(r); err == nil && fate == mx.FateCancelled {
				break // there was none; an error says that one has come, and was collected meanwhile
			}
		}
	}
}
