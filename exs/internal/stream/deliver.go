package stream

// deliver gives what is in the buffer to the receives that wait. While adverts are
// outstanding, what lands there comes first.
func (r *Receiver) deliver() {
	if r.adverts.len() > 0 {
		return
	}
	for r.waiting.len() > 0 {
		u := r.waiting.front()
		switch {
		case u.n == 0 || r.shut || r.Ended():
			r.finish(0, OK)
		case r.Exhausted():
			r.finish(0, Aborted)
		case r.buffer.here == 0 || u.peek() && !r.enough(u):
			return
		case u.peek():
			u.filled = min(u.n, r.buffer.here)
			r.copyOut(u.id, 0, u.filled)
			r.finish(0, OK)
		default:
			n := min(u.n-u.filled, r.buffer.here)
			r.copyOut(u.id, u.filled, n)
			r.consume(n)
			u.filled += n
			u.offered = u.filled
			if !u.all() || u.filled == u.n {
				r.finish(0, OK)
			}
		}
	}
	if r.shut {
		r.consume(r.buffer.here)
	}
}

// enough reports whether a look can be served: it may want all that the buffer can
// hold.
func (r *Receiver) enough(u *receive) bool {
	if !u.all() || r.buffer.here >= u.n {
		return true
	}
	if r.buffer.fetching() {
		return false
	}
	return r.fin || r.lost || r.full()
}

// copyOut copies the first n bytes of the buffer to a receive.
func (r *Receiver) copyOut(id ID, off, n int) {
	first := min(n, r.buffer.size-r.buffer.head)
	a := r.script.add(ToCopy)
	a.ID, a.Off, a.At, a.N = id, off, r.buffer.head, first
	if first < n {
		a = r.script.add(ToCopy)
		a.ID, a.Off, a.At, a.N = id, off+first, 0, n-first
	}
	r.count.CopiedBytes += uint64(n)
}

func (r *Receiver) consume(n int) {
	if n == 0 {
		return
	}
	r.buffer.consume(n)
	stray := min(n, r.strays)
	r.strays -= stray
	r.freed += uint64(n - stray)
	if r.buffer.held == 0 && r.buffer.size > r.capacity && r.adverts.ghosts.len() == 0 {
		r.buffer.resize(0, &r.script)
	}
}

// full reports whether the buffer holds as much as it ever does of what the window lets come.
func (r *Receiver) full() bool {
	return r.capacity == r.cfg.BufferMax && r.indirect == r.freed+uint64(r.capacity)
}

// grant lets the sender go on once there is room for half a buffer more. A larger
// buffer is such room, so that the sender does not wait for somebody to receive; and
// any room is enough where somebody waits for bytes that the window does not let come.
func (r *Receiver) grant() {
	grew := r.grow()
	due := r.freed + uint64(r.capacity) - r.granted
	if grew || 2*due >= uint64(r.capacity) || due > 0 && r.starves() {
		r.widen()
	}
}

// starves reports whether the first receive is a look that wants more than what is there and what the window lets come.
// Nothing is freed while it waits, so that it gets the room of half a buffer in one ack at most.
func (r *Receiver) starves() bool {
	if r.waiting.len() == 0 {
		return false
	}
	u := r.waiting.front()
	return u.peek() && u.all() && u.n > r.buffer.held+int(r.granted-r.indirect)
}

func (r *Receiver) widen() {
	r.granted = r.freed + uint64(r.capacity)
	r.script.tell(Message{Kind: Ack, Window: r.granted})
}

// grow gives the buffer the size that the sender has asked for, unless bytes are on
// their way into it.
func (r *Receiver) grow() bool {
	if r.capacity >= r.wanted || r.buffer.fetching() || r.adverts.ghosts.len() > 0 {
		return false
	}
	r.capacity = r.wanted
	if need := r.capacity + r.strays; r.buffer.size > 0 && r.buffer.size < need {
		r.buffer.resize(need, &r.script)
	}
	return true
}
