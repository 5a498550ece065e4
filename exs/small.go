package exs

import (
	"sync"

	"gomx/mx"
)

// sendNow sends data that can leave within the call: it makes no operation, only the event. It returns false if that is not possible, or
// if the arguments are not valid; the call then goes on as other sends do. The lock is held, and is released if it returns true.
func (s *Socket) sendNow(b []byte, at int, special bool, flags Flags, q *Queue, ahandle any, m *Memory) bool {
	told, ok := s.tells(flags, q)
	switch {
	case !ok:
		return false
	case special && !s.writeNow(b, at, flags, m), !special && !s.sendPacketNow(b, m):
		return false
	}
	if len(s.ending) > 0 {
		s.settle()
	}
	s.mu.Unlock()
	if told {
		q.putSent(Event{Socket: s, AHandle: ahandle, Type: EvtSend, Buffer: b, Memory: m, Length: len(b), Offset: max(at, 0)})
	}
	return true
}

// tells reports whether a send that ends within its call has an event, and whether the queue can take that event.
func (s *Socket) tells(flags Flags, q *Queue) (told, ok bool) {
	switch {
	case flags&Block != 0:
		return false, true
	case q == nil && flags&Unsignaled == 0 || q != nil && (q.l != s.l || q.gone()):
		return false, false
	}
	return flags&Unsignaled == 0, true
}

// sendPacketNow sends a packet that is copied within the call, so that its memory is free afterwards: a small packet (7.2), or one from
// registered memory.
func (s *Socket) sendPacketNow(b []byte, m *Memory) bool {
	p := &s.packets
	if s.stream != nil || !s.copies(b, m) || p.waiting.len() > 0 || p.sent-p.acked >= p.window || len(s.files) > 0 {
		return false
	}
	if ep := s.l.ep.Load(); !ep.SendNow(b, s.peer, s.packetMatch()) && (m != nil || s.peer != ep.Addr() || !s.sendCopy(b)) {
		return false
	}
	p.sent++
	p.returned = p.taken
	return true
}

// duplicate is a copy of a packet to a socket of the same library, where nothing leaves before the next pass.
type duplicate struct{ b []byte }

var duplicates = sync.Pool{New: func() any { return new(duplicate) }}

func (d *duplicate) completed(*mx.Status) { duplicates.Put(d) }

// sendCopy sends a copy of a packet.
func (s *Socket) sendCopy(b []byte) bool {
	d := duplicates.Get().(*duplicate)
	d.b = append(d.b[:0], b...)
	_, err := s.l.post(s.l.ep.Load().Isend(d.b, s.peer, s.packetMatch(), d))
	return err == nil
}

// copies reports whether a packet may leave before its call is over.
func (s *Socket) copies(b []byte, m *Memory) bool {
	if m == nil {
		return len(b) <= s.options.small && s.options.small > 0
	}
	return m.allows(s.l, false, b) == 0
}

// putSent adds the event of a send that ended within its call.
func (q *Queue) putSent(sent Event) {
	q.use()
	q.mu.Lock()
	if e := q.next(); e != nil {
		*e = sent
		q.added()
	}
	q.mu.Unlock()
	q.list.wake()
}
