package stream

// Landed says that the posted receive number is complete with n bytes. It may come
// in any order. Error: an ErrProtocol.
func (r *Receiver) Landed(number uint32, n int) error {
	a := &r.adverts
	i := 0
	for i < a.len() && (a.at(i).number != number || a.at(i).landed) {
		i++
	}
	switch {
	case i == a.len():
		return errNotOffered
	case r.dead:
		r.owner(a.at(i)).adverts--
		a.remove(i)
		r.part()
		return nil
	case n <= 0:
		return errEmpty
	case n > a.at(i).n:
		return errTooLong
	}
	a.at(i).landed, a.at(i).got = true, n
	if before(a.used, number+1) {
		a.used = number + 1
	}
	for a.len() > 0 && a.front().landed {
		if err := r.land(); err != nil {
			return err
		}
	}
	if err := r.checkEnd(); err != nil {
		return err
	}
	r.part()
	return nil
}

// forgetLanded drops the adverts whose bytes waited for others to land.
func (r *Receiver) forgetLanded() {
	a := &r.adverts
	for i := 0; i < a.len(); {
		if a.at(i).landed {
			r.owner(a.at(i)).adverts--
			a.remove(i)
		} else {
			i++
		}
	}
}

// land hands the oldest advert's bytes to its receive, which is the oldest.
func (r *Receiver) land() error {
	l := *r.adverts.front()
	r.adverts.pop()
	r.adverts.advertised -= l.n
	r.adverts.late, r.adverts.pause = 0, 0
	u := r.waiting.front()
	u.adverts--
	u.filled = l.off + l.got
	r.position += uint64(l.got)
	r.count.DirectBytes += uint64(l.got)
	r.observe(l.got)
	if l.whole && l.got < l.n { // the sender goes on behind these bytes
		if err := r.endEpoch(l.number + 1); err != nil {
			return err
		}
		u.offered = u.filled
		r.recount()
	}
	if !u.all() || u.filled == u.n {
		r.finish(0, OK)
	}
	return nil
}

// over takes the end of the stream.
func (r *Receiver) over(m *Message) error {
	if r.fin {
		return errAfterEnd
	}
	if err := r.endEpoch(m.Number); err != nil {
		return err
	}
	r.fin, r.end = true, m.Position
	return r.checkEnd()
}

// checkEnd compares what has come with what was said.
func (r *Receiver) checkEnd() error {
	if r.fin && (r.position > r.end || r.adverts.len() == 0 && r.position < r.end) {
		return errPosition
	}
	return nil
}
