package endpoint

// timers is a heap of what must be looked at, and when: each entry is a promise
// to look at a peer, a request or a pull at its tick. What becomes due later than
// promised is put back when its promise comes up, so that moving a deadline away,
// which happens with every message, costs nothing.
type timers []timer

type timer struct {
	due  Tick
	what uint64 // index of a peer, handle of a request, index of a pull
	kind timerKind
}

type timerKind uint8

const (
	timerPeer timerKind = iota
	timerRequest
	timerPull
)

func (h *timers) push(t timer) {
	s := append(*h, t)
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if s[up].due <= t.due {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = t
	*h = s
}

func (h *timers) pop() timer {
	s := *h
	top, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	for i := 0; len(s) > 0; {
		down := 2*i + 1
		if down+1 < len(s) && s[down+1].due < s[down].due {
			down++
		}
		if down >= len(s) || last.due <= s[down].due {
			s[i] = last
			break
		}
		s[i] = s[down]
		i = down
	}
	return top
}

// clock brings the time up to date for somebody who begins to wait.
func (e *Engine) clock() Tick {
	e.now = max(e.now, e.host.Tick())
	return e.now
}

// SetIdle says whether the engine goes without passes for a while, so that nobody tells it the time: then each request asks for it.
func (e *Engine) SetIdle(on bool) {
	if e.idle = on; !on {
		e.clock()
	}
}

// begins is the time for a request that begins.
func (e *Engine) begins() Tick {
	if e.idle {
		return e.clock()
	}
	return e.now
}

// watchPeer, watchRequest and watchPull see to it that Advance comes by in time.
// They are called whenever something may have become due earlier. What could not
// be done this time, because a link is full, has to wait for the next tick.
func (e *Engine) watchPeer(p *peer) {
	if due := max(e.peerDue(p), e.now+1); due < p.watched {
		p.watched = due
		e.timers.push(timer{due, uint64(p.index), timerPeer})
	}
}

func (e *Engine) watchRequest(slot int32, r *request) {
	e.timers.push(timer{r.deadline, uint64(handleOf(slot, r.generation)), timerRequest})
}

func (e *Engine) watchPull(i int32, pl *pull) {
	if due := max(e.pullDue(pl), e.now+1); due < pl.watched {
		pl.watched = due
		e.timers.push(timer{due, uint64(i), timerPull})
	}
}

// dueNow returns when the object of a timer is really due, and where it keeps when Advance comes by. Never
// and nil: it is gone, or another timer stands for it.
func (e *Engine) dueNow(t timer) (due Tick, watched *Tick) {
	switch t.kind {
	case timerPeer:
		if p := e.peers[t.what]; p.watched == t.due {
			return e.peerDue(p), &p.watched
		}
	case timerRequest:
		if _, r := e.reqs.find(Handle(t.what)); r != nil && r.state != stateComplete && r.deadline >= t.due {
			return r.deadline, &r.deadline
		}
	case timerPull:
		if pl := e.pulls.items[t.what]; pl.live && pl.watched == t.due {
			return e.pullDue(pl), &pl.watched
		}
	}
	return Never, nil
}

// NextDue returns the tick by which Advance must be called again, or Never.
func (e *Engine) NextDue() Tick {
	for len(e.timers) > 0 {
		top := e.timers[0]
		due, watched := e.dueNow(top)
		if due <= top.due {
			return top.due
		}
		e.timers.pop()
		if watched != nil {
			*watched = due
		}
		if due != Never {
			top.due = due
			e.timers.push(top)
		}
	}
	return Never
}

// Advance moves the clock and does what has become due: acks, retransmission,
// connects asked again, timeouts.
func (e *Engine) Advance(now Tick) {
	if now < e.now {
		return
	}
	e.now = now
	for e.NextDue() <= now {
		t := e.timers.pop()
		switch t.kind {
		case timerPeer:
			p := e.peers[t.what]
			p.watched = Never
			e.advancePeer(p)
			e.watchPeer(p)
		case timerRequest:
			slot, r := e.reqs.find(Handle(t.what))
			e.expire(slot, r)
		case timerPull:
			i := int32(t.what)
			e.pulls.items[i].watched = Never
			e.advancePull(i)
		}
	}
}
