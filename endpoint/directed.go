package endpoint

// A directed receive takes messages of one peer only, beside what its match information says. It stands among the posted receives in
// its turn, and the engine asks for each message whether it may have it. Endpoints that have posted one take messages on the
// general path from then on, so that nobody else pays for that question.

// RecvDirected is Recv of a message of the peer opts.From, in whichever session that sends it. With Tied it ends with
// the session.
func (e *Engine) RecvDirected(i *Posting, opts *RecvOptions) (Handle, error) {
	if !e.known(opts.From) {
		return 0, ErrBadAddress
	}
	if err := e.checkRecv(i, opts); err != nil {
		return 0, err
	}
	if e.inline.live {
		e.postInline() // which is older
	}
	slot, r := e.reqs.alloc()
	r.kind, r.state, r.ctx = kindRecv, statePosted, i.Context
	r.keep(i.First, opts.Rest)
	r.match, r.mask, r.started = i.Value, i.Mask, e.begins()
	h := handleOf(slot, r.generation)
	if id, ok := e.storedOf(opts.From.Peer, i.Value, i.Mask); ok {
		e.receiveStored(slot, r, id)
		return h, nil
	}
	if opts.Tied && !e.tie(slot, r, opts.From) {
		return h, nil
	}
	if e.directed == nil {
		e.directed = map[int32]int32{}
		for _, p := range e.peers {
			p.directed = true
			p.refresh(e.cfg.EagerLimit)
		}
	}
	e.directed[slot] = opts.From.Peer
	e.posted.Post(slot, i.Value, i.Mask)
	return h, nil
}

// storedOf returns the oldest stored message of a peer that matches.
func (e *Engine) storedOf(peer int32, value, mask uint64) (id int32, ok bool) {
	for id, ok = e.unexp.First(); ok; id, ok = e.unexp.Next(id) {
		if m := e.unexp.At(id); m.Match&mask == value && e.shown(m.Peer) == peer {
			return id, true
		}
	}
	return 0, false
}

// takesFrom reports for a posted receive whether it may have a message of a peer.
func (e *Engine) takesFrom(p *peer) func(slot int32) bool {
	return func(slot int32) bool {
		from, directed := e.directed[slot]
		return !directed || from == e.shown(p.index)
	}
}

// match finds the posted receive for a message of a peer.
func (e *Engine) match(p *peer, incoming uint64) (slot int32, ok bool) {
	if len(e.directed) == 0 {
		return e.posted.Arrive(incoming)
	}
	if slot, ok = e.posted.ArriveWhere(incoming, e.takesFrom(p)); ok {
		delete(e.directed, slot)
	}
	return slot, ok
}

// matches reports whether match would find one.
func (e *Engine) matches(p *peer, incoming uint64) bool {
	if len(e.directed) == 0 {
		return e.posted.Posted(incoming)
	}
	_, ok := e.posted.FindWhere(incoming, e.takesFrom(p))
	return ok
}

// unpost takes a receive away that has not matched.
func (e *Engine) unpost(slot int32) {
	e.posted.Cancel(slot)
	delete(e.directed, slot)
}
