package unexpected

// Add stores m as the newest message, with a buffer of size bytes for its data. The
// caller fills the buffer through At(id).Data, and until then it may hold bytes of an
// earlier message. Add ignores m.Data.
func (s *Store) Add(m Message, size int) int32 {
	cost := footprint(size)
	id, at := s.slab.take(size)
	put(&at.message, &m)
	s.added++
	at.cost, at.number = cost, s.added
	at.prev, at.next = s.last, none
	if s.last == none {
		s.first = id
	} else {
		s.slab.at(s.last).next = id
	}
	s.last = id

	s.depth++
	s.bytes += cost
	s.peak = max(s.peak, s.depth)
	s.peakBytes = max(s.peakBytes, s.bytes)
	s.exact.Add(m.Match, id)
	if len(s.masked) != 0 {
		s.keepUp(m.Match, id)
	}
	if len(s.snapshots) != 0 {
		s.snapshotsMiss(id)
	}
	return id
}

// put copies all fields but Data, one by one, because assigning the struct would
// use the slow bulk path of the write barrier.
func put(to, from *Message) {
	to.Match, to.ID, to.Aux = from.Match, from.ID, from.Aux
	to.Peer, to.Length, to.Seq = from.Peer, from.Length, from.Seq
	to.Kind, to.Flags = from.Kind, from.Flags
}

// Remove removes the message, claimed or not. Its Data must not be used any more.
// Removing an id that is not stored does nothing.
func (s *Store) Remove(id int32) {
	if !s.exact.Remove(id) {
		s.removeClaimed(id)
		return
	}
	s.bytes -= s.withdraw(id).cost
	s.slab.give(id, s.spareLimit())
}

// withdraw removes a message from the indexes over masks and from the order of arrival.
func (s *Store) withdraw(id int32) *entry {
	for i := range s.masked {
		s.masked[i].index.Remove(id)
	}
	at := s.slab.at(id)
	at.number = 0
	if len(s.snapshots) != 0 {
		s.snapshotsLose(id, at.next)
	}
	if at.prev == none {
		s.first = at.next
	} else {
		s.slab.at(at.prev).next = at.next
	}
	if at.next == none {
		s.last = at.prev
	} else {
		s.slab.at(at.next).prev = at.prev
	}
	s.depth--
	return at
}

// RemovePeer removes all messages of one peer, the oldest first and the claimed ones
// last. If f is not nil, it is called with each message before that is removed, and must
// not add or remove messages.
func (s *Store) RemovePeer(peer int32, f func(id int32)) {
	s.Each(func(id int32, m *Message) {
		if m.Peer != peer {
			return
		}
		if f != nil {
			f(id)
		}
		s.Remove(id)
	})
}
