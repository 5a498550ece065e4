package endpointtest

import (
	"errors"
	"fmt"

	"gomx/endpoint"
)

// Pair plays a history between two endpoints that bytes describe: operations,
// deliveries, faults and time in any order.
type Pair struct {
	World *World
	side  [2]pairSide
	bytes []byte
	lossy bool
	heals bool // links may break, and the session goes on
	stale bool // a session has ended: messages may be missing
}

type pairSide struct {
	node     *Node
	sends    []*pairSend
	receives []*pairReceive
	connects []endpoint.Handle
	accesses []*pairAccess
	windows  []*pairWindow // the last one is open
}

type pairSend struct {
	id     int
	match  uint64
	size   int
	handle endpoint.Handle
	ended  bool
	level  endpoint.Level
	eaten  bool // the far handler wanted none of it
	code   endpoint.Code
	status endpoint.Status
}

type pairReceive struct {
	value, mask uint64
	buffer      *Buffer
	handle      endpoint.Handle
	ended, gone bool // gone: cancelled
	got         int
	session     uint32 // that it is tied to, or 0
	claim       endpoint.Claim
	claimed     bool // and not received
}

// NewPair decodes the world from the first bytes; the others are the history.
func NewPair(bytes []byte) *Pair {
	p := &Pair{bytes: bytes, World: new(World)}
	what := p.next()
	w := p.World
	w.Caps = Reliable(what&1 != 0)
	if p.lossy = what&2 != 0; p.lossy {
		w.Caps = Lossy(what&1 != 0)
	} else if p.heals = p.next()&1 != 0; p.heals {
		w.Caps = Healing(what&1 != 0)
	}
	w.Pulls = PullMode(what >> 2 & 3)
	cfg := endpoint.Config{Filter: 1, EagerLimit: -1, CopyLimit: -1}
	cfg.EagerLimit = []int{-1, 0, 1500, 1 << 20}[what>>4&3]
	if what&64 != 0 {
		w.Capacity = 3
	}
	if what&128 != 0 {
		cfg.UnexpectedBytes, cfg.UnexpectedHeaders = 6000, 100
	}
	for i := range p.side {
		cfg.Session = []uint32{0x100, 0xfffffff0}[i]
		p.side[i].node = w.Add(string(rune('a'+i)), cfg)
	}
	for i := range p.side {
		p.side[i].node.Handler = func(in *endpoint.Incoming) endpoint.Action { return p.handle(i, in) }
	}
	for i := range p.side {
		p.openWindow(&p.side[i])
	}
	p.connect(0)
	p.settle()
	return p
}

// handle is the unexpected handler of one side.
func (p *Pair) handle(side int, in *endpoint.Incoming) endpoint.Action {
	id := int(in.Match >> 8)
	switch id % 8 {
	case 1:
		p.side[1-side].sends[id-1].eaten = true
		return endpoint.Finished
	case 2:
		p.receive(side, byte(in.Match&3)<<5|9, false)
	case 3:
		p.send(side, byte(id))
	case 4:
		if id%16 == 4 {
			p.upset(side, 0)
		}
	}
	return endpoint.Continue
}

func (p *Pair) next() byte {
	if len(p.bytes) == 0 {
		return 0
	}
	b := p.bytes[0]
	p.bytes = p.bytes[1:]
	return b
}

// Play plays the history and checks its outcome.
func (p *Pair) Play() error {
	for len(p.bytes) > 0 {
		if err := p.step(); err != nil {
			return err
		}
	}
	return p.Finish()
}

var pairSizes = [...]int{0, 1, 8, 40, 1000, 1024, 1500, 2048, 2049, 6000, 40000, 200000}

func (p *Pair) step() error {
	op := p.next()
	side := int(op >> 7)
	s, far := &p.side[side], &p.side[1-side]
	switch op & 15 {
	case 0, 1:
		return p.send(side, p.next())
	case 2:
		return p.access(side, p.next())
	case 3, 4, 5:
		if op>>4&7 == 5 {
			return p.claim(s, p.next())
		}
		return p.receive(side, p.next(), op>>4&3 == 3)
	case 6, 7:
		for range op >> 4 & 7 {
			p.World.Deliver(s.node, far.node)
		}
	case 8:
		p.World.Run()
	case 9:
		p.World.Tick(endpoint.Tick(1 + op>>4&7*15))
	case 10:
		p.disturb(s.node, far.node, op>>4&7, p.next())
	case 11:
		return p.cancel(s, p.next())
	case 12:
		return p.collect(s)
	case 13:
		s.node.Engine.Flush()
		s.node.Engine.SetHandler(op>>4&3 == 3)
	case 14:
		p.upset(side, op>>4&7)
	case 15:
		p.connect(side)
	}
	return nil
}

func (p *Pair) send(side int, how byte) error {
	s, far := &p.side[side], &p.side[1-side]
	addr, ok := s.node.Engine.AddrOf(s.node.PeerOf(far.node))
	if !ok {
		return nil
	}
	m := &pairSend{id: len(s.sends) + 1, size: pairSizes[int(how&15)%len(pairSizes)], level: levelOf(how)}
	m.match = uint64(m.id)<<8 | uint64(how>>5&3)
	b := NewBuffer(m.size/3, m.size-m.size/3)
	if how&128 != 0 {
		b = NewBuffer(m.size)
	}
	Fill(&b.Vec, m.id)
	h, err := s.node.Engine.Send(&endpoint.Outgoing{First: b.Vec.First, To: addr, Match: m.match, Context: m.id}, &endpoint.SendOptions{Rest: b.Vec.Rest, Level: m.level})
	if err != nil {
		return err
	}
	m.handle = h
	s.sends = append(s.sends, m)
	return nil
}

// levelOf decides when a send completes.
func levelOf(how byte) endpoint.Level {
	switch {
	case how&16 != 0:
		return endpoint.Matched
	case how>>5&3 == 3:
		return endpoint.Acknowledged
	}
	return endpoint.BufferFree
}

func (p *Pair) receive(side int, how byte, tied bool) (err error) {
	s, far := &p.side[side], &p.side[1-side]
	r := newReceive(how)
	opts := endpoint.RecvOptions{Rest: r.buffer.Vec.Rest}
	if addr, met := s.node.Engine.AddrOf(s.node.PeerOf(far.node)); met && tied {
		r.session = addr.Session
		opts.Tied, opts.From = true, addr
	}
	r.handle, err = s.node.Engine.Recv(&endpoint.Posting{First: r.buffer.Vec.First, Value: r.value, Mask: r.mask}, &opts)
	if err != nil {
		return err
	}
	s.receives = append(s.receives, r)
	return nil
}

func newReceive(how byte) *pairReceive {
	r := &pairReceive{value: uint64(how >> 5 & 3), mask: 3}
	if how&128 != 0 {
		r.value, r.mask = 0, 0
	}
	size := pairSizes[int(how&15)%len(pairSizes)]
	r.buffer = NewBuffer(size/2, size-size/2)
	if how&16 != 0 {
		r.buffer = NewBuffer(size)
	}
	return r
}

// claim takes a message, which redeem receives some time later: who gets which message
// is decided now.
func (p *Pair) claim(s *pairSide, how byte) error {
	r := newReceive(how)
	var st endpoint.Status
	var err error
	if r.claim, r.claimed, err = s.node.Engine.Claim(r.value, r.mask, &st); r.claimed {
		s.receives = append(s.receives, r)
	}
	return err
}

// redeem receives what is claimed.
func (p *Pair) redeem(s *pairSide) (err error) {
	for _, r := range s.receives {
		if !r.claimed {
			continue
		}
		r.claimed = false
		r.handle, err = s.node.Engine.RecvClaimed(r.buffer.Vec, r.claim, nil)
		switch {
		case errors.Is(err, endpoint.ErrBadRequest) && p.stale:
			r.gone = true // with the session
		case err != nil:
			return fmt.Errorf("%v: a claimed message: %w", s.node, err)
		}
		if _, err := s.node.Engine.RecvClaimed(r.buffer.Vec, r.claim, nil); !errors.Is(err, endpoint.ErrBadRequest) {
			return fmt.Errorf("%v: a message that was received is claimed: %v", s.node, err)
		}
	}
	return nil
}

// disturb harms frames on their way, if the medium may do that.
func (p *Pair) disturb(from, to *Node, how, which byte) {
	l := p.World.Lane(from, to)
	if l == nil || !p.lossy || len(l.Queue) == 0 {
		return
	}
	i := int(which) % len(l.Queue)
	switch how {
	case 0, 1, 2:
		l.Remove(i)
	case 3, 4:
		l.Duplicate(i)
	case 5:
		for len(l.Queue) > 0 {
			l.Remove(0)
		}
	default:
		l.Move(i, int(which>>4)%len(l.Queue))
	}
}

func (p *Pair) cancel(s *pairSide, which byte) error {
	if len(s.receives) == 0 {
		return nil
	}
	r := s.receives[int(which)%len(s.receives)]
	if r.claimed {
		return nil
	}
	gone, err := s.node.Engine.Cancel(r.handle)
	switch {
	case r.ended || r.gone:
		if !errors.Is(err, endpoint.ErrBadRequest) {
			return fmt.Errorf("cancel of a request that has ended: %v", err)
		}
	case err != nil:
		return fmt.Errorf("cancel: %w", err)
	case gone:
		r.gone = true
	}
	return nil
}

// upset ends sessions.
func (p *Pair) upset(side int, how byte) {
	s, far := &p.side[side], &p.side[1-side]
	switch how {
	case 0, 1:
		p.stale = true
		if addr, ok := s.node.Engine.AddrOf(s.node.PeerOf(far.node)); ok {
			if how == 0 {
				_ = s.node.Engine.Disconnect(addr)
			} else {
				_ = s.node.Engine.GiveUp(addr)
			}
		}
	case 2, 3:
		if p.lossy {
			return
		}
		p.stale = p.stale || !p.heals
		if p.heals {
			p.change(p.next())
		}
		at := s.node // it learns of it before the other side does
		if how == 2 {
			at = nil
		}
		p.World.Break(s.node, far.node, at)
	default:
		p.World.SettleOne(int(how))
	}
}

// change has links be of another medium from now on.
func (p *Pair) change(how byte) {
	w := p.World
	w.Caps = Healing(how&1 != 0)
	w.Pulls = PullMode(how >> 1 & 3)
	w.Caps.MaxFrame = []int{2048, 1100, 9000, 2048}[how>>3&3]
	w.Caps.Eager = w.Caps.MaxFrame
	w.Caps.PullFrame = []int{0, 4000}[how>>5&1]
}

func (p *Pair) connect(side int) {
	s, far := &p.side[side], &p.side[1-side]
	s.connects = append(s.connects, s.node.Connect(far.node, 1, 0))
}
