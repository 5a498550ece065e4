package unexpected

// Claim removes a message from the order of arrival, so that Find, First and Next do not
// return it any more. The message remains in the store until Remove, and its footprint is
// counted until then. Claim returns false if there is no such message, or if it is
// claimed already.
func (s *Store) Claim(id int32) bool {
	if !s.exact.Remove(id) {
		return false
	}
	at := s.withdraw(id)
	at.claimed = true
	at.prev, at.next = none, s.claims
	if s.claims != none {
		s.slab.at(s.claims).prev = id
	}
	s.claims = id
	s.claimed++
	return true
}

// Claimed reports whether id is a claimed message.
func (s *Store) Claimed(id int32) bool {
	return id > none && id <= s.slab.used && s.slab.at(id).claimed
}

// Each calls f for each message, the oldest first, and then for each claimed message.
// f may remove the message that it is called with, but no other.
func (s *Store) Each(f func(id int32, m *Message)) {
	for _, id := range [...]int32{s.first, s.claims} {
		for id != none {
			at := s.slab.at(id)
			next := at.next
			f(id, &at.message)
			id = next
		}
	}
}

// removeClaimed removes a claimed message. For other ids it does nothing.
func (s *Store) removeClaimed(id int32) {
	if !s.Claimed(id) {
		return
	}
	at := s.slab.at(id)
	at.claimed = false
	if at.prev == none {
		s.claims = at.next
	} else {
		s.slab.at(at.prev).next = at.next
	}
	if at.next != none {
		s.slab.at(at.next).prev = at.prev
	}
	s.claimed--
	s.bytes -= at.cost
	s.slab.give(id, s.spareLimit())
}
