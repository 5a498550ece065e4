package exs

// sendSmall sends a small packet from memory that is not registered (7.2): it is copied
// by the call, so that there is no operation, only its event. False: it can't go at once,
// or the call makes no sense, and is for the way of other packets. The lock is held, and
// with true it is let go.
func (s *Socket) sendSmall(b []byte, flags Flags, q *Queue, ahandle any) bool {
	p := &s.packets
	if s.options.small == 0 || p.waiting.len() > 0 || p.sent-p.acked >= p.window || len(s.files) > 0 {
		return false
	}
	told := false // of its end
	switch {
	case flags&Block != 0:
	case q == nil && flags&Unsignaled == 0 || q != nil && (q.l != s.l || q.gone()):
		return false
	default:
		told = flags&Unsignaled == 0
	}
	if !s.l.ep.Load().SendNow(b, s.peer, s.packetMatch()) {
		return false
	}
	p.sent++
	p.told = p.taken
	s.mu.Unlock()
	if told {
		q.putSmall(s, b, ahandle)
	}
	return true
}

// putSmall adds the event of a small packet that was sent.
func (q *Queue) putSmall(s *Socket, b []byte, ahandle any) {
	q.mu.Lock()
	if e := q.next(); e != nil {
		*e = Event{Socket: s, AHandle: ahandle, Type: EvtSend, Buffer: b, Length: len(b)}
		q.added()
	}
	q.mu.Unlock()
	q.l.wake(&q.room, false)
}
