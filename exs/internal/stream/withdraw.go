package stream

// takeBack takes posted receives back for those that are leaving, the last first,
// one at a time: the one before may be used only if this one is not. Then it tells
// the sender.
func (r *Receiver) takeBack() {
	a := &r.adverts
	if a.asked || r.leaving == 0 && !a.ghostly && !r.lost {
		return
	}
	if a.len() > 0 && !a.matched && !a.back().landed && (r.lost || r.leavingFrom(a.back().owner)) {
		a.asked, a.number = true, a.back().number
		r.script.add(ToUnpost).Number = a.number
		return
	}
	if a.ghostly && !r.lost {
		a.ghostly = false
		a.answers++
		r.script.tell(Message{Kind: Withdraw, Epoch: a.epoch, Number: a.ghostMin})
	}
}

// leavingFrom reports whether a receive that is not behind owner's is leaving with
// adverts outstanding.
func (r *Receiver) leavingFrom(owner uint64) bool {
	for i := range r.waiting.len() {
		u := r.waiting.at(i)
		if u.owner > owner {
			break
		}
		if u.leaving && u.adverts > 0 {
			return true
		}
	}
	return false
}

// Unposted answers a ToUnpost: ok means that the posted receive is gone and its
// memory free, otherwise it has matched. Error: an ErrProtocol.
func (r *Receiver) Unposted(number uint32, ok bool) error {
	a := &r.adverts
	if a.asked && a.number == number {
		a.asked = false
		if ok {
			gone := r.popBack()
			*a.ghosts.pushFront() = gone
			a.ghostly, a.ghostMin = true, gone.number
			r.count.Withdrawn++
		} else {
			a.matched = true
		}
		r.part()
		return nil
	}
	if r.dead {
		return nil
	}
	for i := range a.voids.len() {
		if *a.voids.at(i) == number {
			a.voids.remove(i)
			if !ok {
				return errVoid
			}
			return nil
		}
	}
	return nil // it was answered by its landing
}

// withdrawn learns that what was withdrawn is not used, as far as it has not come.
func (r *Receiver) withdrawn(m *Message) error {
	a := &r.adverts
	if a.answers == 0 || m.Epoch != a.epoch || before(m.Number, a.used) || before(a.next, m.Number) {
		return errAnswer
	}
	if a.answers--; a.answers > 0 {
		return nil
	}
	for a.ghosts.len() > 0 && !before(a.ghosts.back().number, m.Number) {
		a.advertised -= a.ghosts.back().n
		a.ghosts.popBack()
	}
	if a.ghosts.len() > 0 {
		return errSkipped
	}
	return nil
}

// stray takes a direct message for memory that was withdrawn. It belongs behind all
// that has landed or is landing.
func (r *Receiver) stray(number uint32, n int) error {
	a := &r.adverts
	if a.ghosts.len() == 0 {
		return errNotOffered
	}
	ghost := *a.ghosts.front()
	switch {
	case ghost.number != number:
		return errSkipped
	case n > ghost.n:
		return errTooLong
	}
	r.makeRoom()
	a.ghosts.pop()
	a.advertised -= ghost.n
	a.used = number + 1
	r.count.Strays++
	if ghost.whole && n < ghost.n {
		return r.endEpoch(number + 1)
	}
	return nil
}

// makeRoom makes the buffer large enough for all direct messages that may be on
// their way to memory that was withdrawn, besides what it is for. The first of
// them finds it without bytes on their way.
func (r *Receiver) makeRoom() {
	need := r.capacity
	for i := range r.adverts.ghosts.len() {
		need += r.adverts.ghosts.at(i).n
	}
	if !r.buffer.fetching() && r.strays == 0 && r.buffer.size < need {
		r.buffer.resize(need, &r.script)
	}
}
