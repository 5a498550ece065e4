package stream

// Message takes a control message of the peer's Sender. Error: an ErrProtocol.
func (r *Receiver) Message(m *Message) error {
	if r.dead || r.lost {
		return nil
	}
	var err error
	switch m.Kind {
	case Ask:
		r.asked, r.ask = true, m.Number
	case Full:
		r.wanted = min(2*r.wanted, r.cfg.BufferMax)
	case Fin:
		err = r.over(m)
	case Withdrawn:
		err = r.withdrawn(m)
	default:
		err = errEnd
	}
	if err == nil {
		r.part()
	}
	return err
}

// Here takes a data message of n bytes that is in the caller's hand until the
// actions that follow are carried out. number is its match number. Error: an
// ErrProtocol.
func (r *Receiver) Here(direct bool, number uint32, n int) error {
	if r.dead || r.lost {
		return nil
	}
	if err := r.arrive(direct, number, n); err != nil {
		return err
	}
	from := r.place(n)
	if direct {
		r.strays += n - from
	} else {
		r.freed += uint64(from)
	}
	if rest := n - from; rest > 0 {
		r.ready(rest)
		at, first, more := r.buffer.reserve(rest)
		r.store(from, at, first)
		r.store(from+first, 0, more)
		r.buffer.arrived(rest)
	}
	r.part()
	return nil
}

// Coming takes a data message of n bytes that will be fetched into the buffer.
// number is its match number. Error: an ErrProtocol.
func (r *Receiver) Coming(direct bool, number uint32, n int) error {
	if r.dead || r.lost {
		return nil
	}
	if err := r.arrive(direct, number, n); err != nil {
		return err
	}
	if direct {
		r.strays += n
	}
	r.ready(n)
	a := r.script.add(ToFetch)
	a.At, a.N, a.More = r.buffer.reserve(n)
	a.Number = r.buffer.wait(n)
	r.part()
	return nil
}

// Fetched says that the bytes of a ToFetch are in the buffer. Error: an ErrProtocol.
func (r *Receiver) Fetched(ticket uint32) error {
	if !r.buffer.fetched(ticket) && !r.lost { // it may lie behind a gap
		return errTicket
	}
	r.settle()
	return nil
}

// arrive takes the account of a message.
func (r *Receiver) arrive(direct bool, number uint32, n int) error {
	switch {
	case n <= 0:
		return errEmpty
	case r.fin:
		return errAfterEnd
	case direct:
		if err := r.stray(number, n); err != nil {
			return err
		}
	case uint64(n) > r.granted-r.indirect:
		return errOverrun
	default:
		if err := r.endEpoch(number); err != nil {
			return err
		}
		r.indirect += uint64(n)
	}
	r.position += uint64(n)
	r.count.IndirectBytes += uint64(n)
	r.observe(n)
	return nil
}

// observe learns whether large messages come, for which adverts pay.
func (r *Receiver) observe(n int) {
	if n >= r.cfg.DirectMin {
		r.worth = worthMost
	} else if r.worth > 0 {
		r.worth--
	}
}

// place copies from the message to receives that wait for just these bytes.
func (r *Receiver) place(n int) (from int) {
	if r.buffer.held > 0 || r.adverts.len() > 0 || r.adverts.asked {
		return 0
	}
	if r.shut {
		return n
	}
	for from < n && r.waiting.len() > 0 {
		u := r.waiting.front()
		if u.peek() {
			break
		}
		if c := min(n-from, u.n-u.filled); c > 0 {
			a := r.script.add(ToPlace)
			a.From, a.ID, a.Off, a.N = from, u.id, u.filled, c
			from += c
			u.filled += c
			u.offered = u.filled
		}
		if u.all() && u.filled < u.n {
			break
		}
		r.finish(0, OK)
	}
	r.count.PlacedBytes += uint64(from)
	return from
}

func (r *Receiver) store(from, at, n int) {
	if n > 0 {
		a := r.script.add(ToStore)
		a.From, a.At, a.N = from, at, n
	}
}

// ready makes sure that there is memory for n more bytes. They are within the
// bounds: where memory is there, it is enough.
func (r *Receiver) ready(n int) {
	if r.buffer.size == 0 {
		r.buffer.resize(max(r.capacity, n), &r.script)
	}
}
