package endpointtest

import (
	"errors"
	"fmt"

	"gomx/endpoint"
)

// settle lets time pass without faults until both sides have nothing to do.
func (p *Pair) settle() {
	for range 200 {
		p.World.Run()
		if p.side[0].node.Engine.NextDue() == endpoint.Never && p.side[1].node.Engine.NextDue() == endpoint.Never {
			return
		}
		p.World.Tick(50)
	}
}

// Finish ends the history without faults: what is not matched is matched or
// cancelled. Then it checks everything.
func (p *Pair) Finish() error {
	for i := range p.side {
		p.side[i].node.Engine.SetHandler(false)
		if err := p.redeem(&p.side[i]); err != nil {
			return err
		}
	}
	p.settle()
	if err := p.takeRest(); err != nil { // what lies before a Connect in a full link
		return err
	}
	if err := p.reconnect(); err != nil {
		return err
	}
	if err := p.takeRest(); err != nil {
		return err
	}
	for side := range p.side {
		s := &p.side[side]
		if err := p.collect(s); err != nil {
			return err
		}
		for _, r := range s.receives {
			if r.ended || r.gone {
				continue
			}
			if now, _ := s.node.Engine.AddrOf(s.node.PeerOf(p.side[1-side].node)); r.session != 0 && r.session != now.Session {
				return fmt.Errorf("%v: a receive outlives the session that it is tied to\n%s", s.node, s.node.Engine.DumpState())
			}
			if gone, err := s.node.Engine.Cancel(r.handle); !gone || err != nil {
				return fmt.Errorf("%v: a receive neither completes nor goes away: %v\n%s", s.node, err, s.node.Engine.DumpState())
			}
			r.gone = true
		}
		if err := p.ended(s); err != nil {
			return err
		}
		if err := p.checkWindows(s, &p.side[1-side]); err != nil {
			return fmt.Errorf("%v: %w", s.node, err)
		}
	}
	return p.verdict()
}

// reconnect has both sides agree on a session, whatever they have been through.
func (p *Pair) reconnect() error {
	for side := range p.side {
		p.connect(side)
		p.settle()
	}
	for side := range p.side {
		s := &p.side[side]
		for i, h := range s.connects {
			var st endpoint.Status
			done, err := s.node.Engine.Test(h, &st)
			if !done {
				return fmt.Errorf("%v: connect %d: %v\n%s", s.node, i, err, s.node.Engine.DumpState())
			}
			if i == len(s.connects)-1 && st.Code != endpoint.Success {
				return fmt.Errorf("%v: connect at the end: %v", s.node, st.Code)
			}
		}
		s.connects = nil
	}
	return nil
}

// takeRest receives what is left in the unexpected stores, and what comes after.
func (p *Pair) takeRest() error {
	for range 10000 {
		if err := p.takeStored(&p.side[0]); err != nil {
			return err
		}
		if err := p.takeStored(&p.side[1]); err != nil {
			return err
		}
		p.settle()
		if p.side[0].node.Engine.Depths().Unexpected+p.side[1].node.Engine.Depths().Unexpected == 0 {
			return nil
		}
	}
	return errors.New("the unexpected stores do not run empty")
}

func (p *Pair) takeStored(s *pairSide) error {
	for {
		var st endpoint.Status
		if found, _ := s.node.Engine.Probe(0, 0, &st); !found {
			return nil
		}
		r := &pairReceive{buffer: NewBuffer(int(st.MsgLength))}
		h, err := s.node.Engine.Recv(&endpoint.Posting{First: r.buffer.Vec.First}, &endpoint.RecvOptions{Rest: r.buffer.Vec.Rest})
		if err != nil {
			return err
		}
		r.handle = h
		s.receives = append(s.receives, r)
	}
}

// collect tests every request, and checks what a completed one says.
func (p *Pair) collect(s *pairSide) error {
	if err := p.redeem(s); err != nil {
		return err
	}
	for _, m := range s.sends {
		done, err := s.node.Engine.Test(m.handle, &m.status)
		if e := once(done, err, &m.ended); e != nil {
			return fmt.Errorf("%v send %d: %w", s.node, m.id, e)
		}
		if done {
			m.code = m.status.Code
			if err := p.checkSend(m); err != nil {
				return fmt.Errorf("%v send %d: %w", s.node, m.id, err)
			}
		}
	}
	if err := p.collectAccesses(s); err != nil {
		return err
	}
	for i, r := range s.receives {
		var st endpoint.Status
		done, err := s.node.Engine.Test(r.handle, &st)
		was := r.ended || r.gone
		if e := once(done, err, &was); e != nil {
			return fmt.Errorf("%v receive %d: %w", s.node, i, e)
		}
		if done {
			r.ended = true
			if err := p.checkReceive(s, r, &st); err != nil {
				return fmt.Errorf("%v receive %d: %w", s.node, i, err)
			}
		}
	}
	return nil
}

func once(done bool, err error, ended *bool) error {
	switch {
	case *ended && !errors.Is(err, endpoint.ErrBadRequest):
		return fmt.Errorf("a stale handle gives %v, %v", done, err)
	case !*ended && err != nil:
		return fmt.Errorf("vanished: %w", err)
	case done:
		*ended = true
	}
	return nil
}

func (p *Pair) checkSend(m *pairSend) error {
	st := &m.status
	switch {
	case st.Match != m.match || int(st.MsgLength) != m.size || st.Context != m.id:
		return fmt.Errorf("status %+v is of another request", *st)
	case st.Code == endpoint.Success && int(st.XferLength) != m.size:
		return fmt.Errorf("success with %d of %d bytes", st.XferLength, m.size)
	case st.Code == endpoint.Truncated && m.eaten && st.XferLength == 0:
	case st.Code == endpoint.Truncated && (m.level != endpoint.Matched || int(st.XferLength) >= m.size):
		return fmt.Errorf("truncated with %d of %d bytes, at level %d", st.XferLength, m.size, m.level)
	case st.Code != endpoint.Success && st.Code != endpoint.Truncated && !p.stale:
		return fmt.Errorf("%v without reason", st.Code)
	}
	return nil
}

func (p *Pair) checkReceive(s *pairSide, r *pairReceive, st *endpoint.Status) error {
	if st.Code != endpoint.Success && st.Code != endpoint.Truncated {
		if !p.stale {
			return fmt.Errorf("%v without reason", st.Code)
		}
		return nil
	}
	far := &p.side[0]
	if s == far {
		far = &p.side[1]
	}
	r.got = int(st.Match >> 8)
	if r.got < 1 || r.got > len(far.sends) {
		return fmt.Errorf("got message %d of %d", r.got, len(far.sends))
	}
	m := far.sends[r.got-1]
	room := r.buffer.Vec.Len()
	switch {
	case st.Match != m.match || int(st.MsgLength) != m.size:
		return fmt.Errorf("message %d: match %#x size %d, want %#x %d", m.id, st.Match, st.MsgLength, m.match, m.size)
	case int(st.XferLength) != min(room, m.size):
		return fmt.Errorf("message %d: %d bytes, want %d", m.id, st.XferLength, min(room, m.size))
	case (st.Code == endpoint.Truncated) != (room < m.size):
		return fmt.Errorf("message %d: %v with room %d for %d", m.id, st.Code, room, m.size)
	}
	if err := r.buffer.Check(byteSeed(m.id), int(st.XferLength)); err != nil {
		return fmt.Errorf("message %d: %w", m.id, err)
	}
	return nil
}

func byteSeed(id int) int { return id }

// ended checks that every send has completed: all its peer's receives are done.
func (p *Pair) ended(s *pairSide) error {
	for _, m := range s.sends {
		if !m.ended {
			return fmt.Errorf("%v: send %d of %d bytes never completes\n%s", s.node, m.id, m.size, s.node.Engine.DumpState())
		}
	}
	for i, x := range s.accesses {
		if !x.ended {
			return fmt.Errorf("%v: access %d of %d bytes never completes\n%s", s.node, i, x.size, s.node.Engine.DumpState())
		}
	}
	return nil
}

// verdict compares who got what with the twin, and looks for leftovers.
func (p *Pair) verdict() error {
	for side := range p.side {
		s, far := &p.side[side], &p.side[1-side]
		t := new(Twin)
		for _, m := range far.sends {
			if !m.eaten {
				t.Messages = append(t.Messages, TwinMessage{m.id, m.match})
			}
		}
		for _, r := range s.receives {
			if !r.gone {
				t.Receives = append(t.Receives, TwinReceive{r.value, r.mask, r.got})
			}
		}
		if p.stale {
			t = t.Delivered()
		}
		if err := t.Check(); err != nil {
			return fmt.Errorf("%v: %w", s.node, err)
		}
		bytes, headers, _, _ := s.node.Engine.Credit(s.node.PeerOf(far.node))
		if _, _, b, h := far.node.Engine.Credit(far.node.PeerOf(s.node)); bytes != b || headers != h {
			return fmt.Errorf("%v has credit for %d bytes and %d headers, and the other side reckons with %d and %d", s.node, bytes, headers, b, h)
		}
		if n := s.node.Engine.Counters().WindowBroken; n != 0 {
			return fmt.Errorf("%v has given up %d peers that kept to their credit", s.node, n)
		}
		if left := p.World.Leftovers(s.node); left != nil {
			return fmt.Errorf("%v has %q\n%s", s.node, left, s.node.Engine.DumpState())
		}
	}
	return nil
}
