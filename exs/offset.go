package exs

import (
	"encoding/binary"

	"gomx/mx"
)

// remote is persistent memory of the peer's.
type remote struct {
	open    bool
	notify  bool // the peer wants a notice of each use
	window  mx.WindowHandle
	used    uint32 // notices that were sent
	seen    uint32 // of those, that the peer's program has taken
	version uint32 // a number of its own for each memory

	under      int     // operations of ours on it that have not ended
	unanswered int     // how often to answer the peer, which has withdrawn the memory, when these have ended
	next       *remote // memory that the peer has exported since
}

// isUsed reports whether operations of this side may still use the memory: the peer has not withdrawn it, or keeps it until they have
// ended.
func (f *remote) isUsed() bool { return f.open || f.unanswered > 0 }

// SendOffset starts to send b into the peer's persistent receive, from an offset in it on
// (exs_send_offset, section 4.4 of the second paper). If the peer has no persistent receive yet, it waits for one, whether or
// not the peer has a persistent send. Otherwise it is like Send. Sends that are under way at the same time may take effect in any order.
//
// Errors are those of Send, and EOPNOTSUPP on a stream. Events carry besides EFAULT for bytes
// beyond the memory.
func (s *Socket) SendOffset(b []byte, offset int, flags Flags, q *Queue, ahandle any, m *Memory) (int, error) {
	if offset < 0 {
		return 0, s.outside("send")
	}
	return s.send(EvtSend, b, nil, offset, flags, q, ahandle, m)
}

// RecvOffset starts to receive into b from the peer's persistent send, from an offset in it on
// (exs_recv_offset, section 4.4 of the second paper), as many bytes as b has room for. If
// there is none yet, it waits for one. Otherwise it is like Recv and SendOffset.
func (s *Socket) RecvOffset(b []byte, offset int, flags Flags, q *Queue, ahandle any, m *Memory) (int, error) {
	if offset < 0 {
		return 0, s.outside("recv")
	}
	n, _, err := s.recv(EvtRecv, b, nil, offset, flags, q, ahandle, m)
	return n, err
}

// outside is the error of an offset that no memory has.
func (s *Socket) outside(op string) error {
	if err := s.present(op); err != nil {
		return err
	}
	return s.refused(op, EFAULT)
}

// approach starts an operation on the peer's memory, or queues it.
func (s *Socket) approach(o *op, way int) {
	x := s.specials()
	switch {
	case way == toRead && (s.life.AtEnd() || s.packets.total >= 0):
		s.finish(o, 0)
	case x.waits[way].len() > 0 || !s.mayAccess(way, s.packets.sent):
		o.behind = s.packets.sent
		x.waits[way].push(o)
	default:
		s.access(o, way)
	}
}

// mayAccess reports whether the peer has exported memory and its program keeps up with the notices. A write waits besides until so
// many packets have been received or written to that memory: they were sent before the peer's memory was known here.
func (s *Socket) mayAccess(way int, behind uint32) bool {
	f := &s.special.far[way]
	return f.open && (!f.notify || f.used-f.seen < s.packets.window) && (way == toRead || int32(s.packets.fed-behind) >= 0)
}

// fed handles the number of packets of ours that precede what is written to the peer's memory now. It returns false if that is not
// valid.
func (s *Socket) fed(n uint32) bool {
	p := &s.packets
	if n-p.fed > p.sent-p.fed {
		return false
	}
	p.fed = n
	if s.special != nil {
		s.accessWaiting(toWrite)
	}
	return true
}

// access reads or writes the peer's memory.
func (s *Socket) access(o *op, way int) {
	f := &s.special.far[way]
	size := o.size()
	if uint64(o.offset)+uint64(size) > uint64(f.window.Length) {
		s.finish(o, EFAULT)
		return
	}
	ep, at := s.l.ep.Load(), uint32(o.offset)
	if way == toWrite && o.iov == nil {
		if sent, _ := ep.Put(o.buf, s.peer, f.window, at); sent {
			o.length = size
			s.sendUsed(f, way, at, size)
			s.finish(o, 0)
			return
		}
	}
	if f.notify {
		f.used++ // its number among the notices
	}
	o.access, o.seq = true, f.version
	match := kindAccess << kindShift
	var err error
	switch {
	case way == toWrite && o.iov == nil:
		o.req, err = s.l.post(ep.Iput(o.buf, s.peer, f.window, at, match, o))
	case way == toWrite:
		o.req, err = s.l.post(ep.Iputv(o.iov, s.peer, f.window, at, match, o))
	case o.iov == nil:
		o.req, err = s.l.post(ep.Iget(o.buf, s.peer, f.window, at, match, o))
	default:
		o.req, err = s.l.post(ep.Igetv(o.iov, s.peer, f.window, at, match, o))
	}
	if err != nil {
		s.finish(o, ENETDOWN)
		s.tear(ENETDOWN)
		return
	}
	f.under++
}

// writeNow writes into the peer's persistent receive, if no operation is queued before it and the bytes can leave within the call.
func (s *Socket) writeNow(b []byte, at int, flags Flags, m *Memory) bool {
	x := s.special
	if x == nil || flags&^sendFlags != 0 || at == nowhere && len(s.files) > 0 ||
		x.waits[toWrite].len() > 0 || !s.mayAccess(toWrite, s.packets.sent) {
		return false
	}
	f, offset := &x.far[toWrite], uint32(max(at, 0))
	if uint64(offset)+uint64(len(b)) > uint64(f.window.Length) || m != nil && m.allows(s.l, false, b) != 0 {
		return false
	}
	sent, _ := s.l.ep.Load().Put(b, s.peer, f.window, offset)
	if sent {
		s.sendUsed(f, toWrite, offset, len(b))
	}
	return sent
}

// accessed handles the completion of an access.
func (s *Socket) accessed(o *op, st *mx.Status) {
	way := toWrite
	if o.receives() {
		way = toRead
	}
	f := &s.special.far[way]
	current := f.version == o.seq
	if current {
		f.under--
		if f.notify {
			f.used--
		}
	}
	switch st.Code {
	case mx.StatusSuccess:
		o.length = int(st.XferLength)
		if current {
			s.sendUsed(f, way, uint32(o.offset), o.length)
		}
		s.finish(o, 0)
	case mx.StatusBadRDMAWindow:
		s.again(o, way)
	case mx.StatusBadRDMARange:
		s.finish(o, EFAULT)
	case mx.StatusRDMANotPermitted:
		s.finish(o, EACCES)
	default:
		n := statusErrno(st.Code)
		if s.fate != 0 {
			n = s.fate
		}
		s.finish(o, n)
		s.lose(n)
	}
	if current {
		s.sendLeft(way)
	}
}

// again starts an operation anew that has failed because the peer has withdrawn the memory. The effect is that of an operation that
// is started when this side knows of the withdrawal, of which the message may still be on its way.
func (s *Socket) again(o *op, way int) {
	f := &s.special.far[way]
	switch {
	case s.fate != 0:
		s.finish(o, s.fate)
	case way == toWrite && s.stops:
		s.finish(o, EPIPE)
	case f.open && f.version == o.seq:
		o.access = false
		s.special.waits[way].push(o)
	default:
		o.access = false
		s.anew(o, way)
	}
}

// anew starts an operation for which the peer has no memory, or no memory any more.
func (s *Socket) anew(o *op, way int) {
	switch {
	case o.placed:
		s.approach(o, way)
	case way == toWrite:
		s.dispatchSend(o)
	default:
		s.receivePacket(o)
	}
}

// sendUsed sends the peer a notice of the use of its memory, if the peer wants notices. The data is in the memory before the notice
// arrives.
func (s *Socket) sendUsed(f *remote, way int, at uint32, n int) {
	if !f.isUsed() || !f.notify {
		return
	}
	f.used++
	var b [9]byte
	b[0] = byte(way)
	binary.LittleEndian.PutUint32(b[1:], at)
	binary.LittleEndian.PutUint32(b[5:], uint32(n))
	_ = s.sendControl(ctlUsed, b[:])
}

// endAccess ends the operations that wait for memory of the peer, since there will be none.
func (s *Socket) endAccess(way int, n Errno) {
	if s.special == nil {
		return
	}
	f := &s.special.far[way]
	f.open, f.next = false, nil
	for w := &s.special.waits[way]; w.len() > 0; {
		s.finish(w.pop(), n)
	}
}

// redirect cancels receives that were posted before this side knew of the peer's persistent send, except those for which packets
// have arrived.
func (s *Socket) redirect() {
	p := &s.packets
	for i := p.posted.len() - 1; i >= 0; i-- {
		o := p.posted.at(i)
		if o.ended || !s.unpostPacket(o) {
			break
		}
		p.line.unshift(o)
	}
	s.holdStray()
	for len(p.held)+p.posted.len() == 0 && s.firstInLine() != nil {
		o := s.firstInLine()
		p.line.remove(o)
		s.approach(o, toRead)
	}
}

// unshift inserts an operation before all others.
func (d *deque) unshift(o *op) {
	if d.head == 0 {
		d.list = append([]*op{nil}, d.list...)
		d.head = 1
	}
	d.head--
	d.list[d.head] = o
}

// handleSpecial handles a control message about persistent memory. It returns false if the message is not valid.
func (s *Socket) handleSpecial(what byte, b []byte) bool {
	way := int(b[0])
	if way != toRead && way != toWrite {
		return false
	}
	f := &s.specials().far[way]
	switch {
	case what == ctlExport && len(b) == 14 && b[1] <= 1 && !f.open && f.next == nil:
		r := remote{open: true, notify: b[1] == 1, version: f.version + 1}
		_ = r.window.UnmarshalBinary(b[2:])
		if f.unanswered > 0 {
			f.next = &r
			return true
		}
		*f = r
		s.divert()
	case what == ctlHide && len(b) == 1:
		f.open, f.next = false, nil
		f.unanswered++
		s.sendLeft(way)
		s.release(way)
		return true
	case what == ctlLeft && len(b) == 1:
		s.left(way)
		return true
	case what == ctlUsed && len(b) == 9:
		return s.heardUse(way, binary.LittleEndian.Uint32(b[1:]), binary.LittleEndian.Uint32(b[5:]))
	case what == ctlSeen && len(b) == 5:
		if d := binary.LittleEndian.Uint32(b[1:]) - f.seen; f.open && d <= f.used-f.seen {
			f.seen += d
		}
	default:
		return false
	}
	s.accessWaiting(way)
	return true
}

// accessWaiting starts the operations that have waited for memory of the peer.
func (s *Socket) accessWaiting(way int) {
	for w := &s.special.waits[way]; w.len() > 0 && s.mayAccess(way, w.at(0).behind); {
		s.access(w.pop(), way)
	}
}

// sendLeft acknowledges that the peer has withdrawn memory. The message follows the last data for that memory and its notice. From
// then on the next memory may be used.
func (s *Socket) sendLeft(way int) {
	f := &s.special.far[way]
	if f.under > 0 || f.unanswered == 0 {
		return
	}
	for ; f.unanswered > 0; f.unanswered-- {
		if s.fate == 0 {
			_ = s.sendControl(ctlLeft, []byte{byte(way)})
		}
	}
	if f.next != nil {
		*f = *f.next
		s.divert()
		s.accessWaiting(way)
	}
}

// divert makes sends that wait for credits as packets wait for the peer's persistent receive instead, if there is one.
func (s *Socket) divert() {
	if !s.special.far[toWrite].open {
		return
	}
	for p := &s.packets; p.waiting.len() > 0; {
		o := p.waiting.pop()
		o.behind = p.sent
		s.special.waits[toWrite].push(o)
	}
}

// release sends transfers without offset as packets, if they have waited for memory that the peer has withdrawn. Transfers with an
// offset wait for the next memory.
func (s *Socket) release(way int) {
	w := &s.special.waits[way]
	all := append([]*op(nil), w.list[w.head:]...)
	*w = deque{}
	for _, o := range all {
		s.anew(o, way)
	}
}
