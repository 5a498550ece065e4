package main

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// crowd is a set of engines joined by wires that cost next to nothing: frames go
// through one queue and arrive at once. It measures how the memory and the work
// of engines grow with their number.
type crowd struct {
	members []*member
	caps    wire.Caps
	dials   []call
	queue   []flight
	head    wire.Header
	payload [wire.ConnectSize]byte
	frames  int // that have arrived
	ends    int // relations: each of two peers counts
	now     endpoint.Tick
}

type call struct {
	from *member
	peer int32
	to   int
}

const (
	messageBytes = 8         // of a message
	filter       = 0x51      // of all endpoints
	connectMatch = 0xf << 60 // of connects
)

// nicOf returns the NIC id of an endpoint.
func nicOf(index int) uint64 { return uint64(index) + 10 }

type flight struct {
	to      *strand
	h       wire.Header
	payload [wire.ConnectSize]byte
}

// member is one engine of a crowd, and its host.
type member struct {
	*crowd
	index    int
	engine   *endpoint.Engine
	peers    []endpoint.Addr // to send to
	partners []*member       // the same
	buffer   [messageBytes]byte
}

// strand is one side of a wire.
type strand struct {
	owner *member
	peer  int32
	far   *strand
}

func newCrowd(endpoints int, caps wire.Caps) *crowd {
	c := &crowd{caps: caps}
	for i := range endpoints {
		m := &member{crowd: c, index: i}
		m.engine = endpoint.New(endpoint.Config{
			NIC: nicOf(i), Filter: filter, Session: uint32(i)*0x9e3779b1 | 1, EagerLimit: -1, CopyLimit: -1,
		}, m)
		c.members = append(c.members, m)
	}
	return c
}

// sparse connects each endpoint with 16 others.
func (c *crowd) sparse() error {
	n := len(c.members)
	for d := 1; d <= min(8, (n-1)/2); d++ {
		for i := range c.members {
			if err := c.connect(i, (i+d*d*d)%n); err != nil {
				return err
			}
		}
	}
	return nil
}

// star connects all others with the first endpoint.
func (c *crowd) star() error {
	for i := 1; i < len(c.members); i++ {
		if err := c.connect(i, 0); err != nil {
			return err
		}
	}
	return nil
}

func (c *crowd) connect(from, to int) error {
	if from == to {
		return nil
	}
	m := c.members[from]
	h := m.engine.Iconnect(nicOf(to), 0, filter, connectMatch, nil)
	c.settle()
	var st endpoint.Status
	if done, err := m.engine.Test(h, &st); !done || st.Code != endpoint.Success {
		return fmt.Errorf("connect from %d to %d: %v, %v, %v", from, to, done, st.Code, err)
	}
	m.peers = append(m.peers, st.Source)
	m.partners = append(m.partners, c.members[to])
	c.ends += 2
	return nil
}

// settle delivers everything that is on its way.
func (c *crowd) settle() {
	for len(c.dials)+len(c.queue) > 0 {
		for _, d := range c.dials {
			c.answer(d)
		}
		c.dials = c.dials[:0]
		for i := 0; i < len(c.queue); i++ {
			f := &c.queue[i]
			c.frames++
			c.head, c.payload = f.h, f.payload // the queue may move while the engine looks
			f.to.owner.engine.Frame(f.to.peer, &c.head, c.payload[:c.head.Length])
		}
		c.queue = c.queue[:0]
	}
}

func (c *crowd) answer(d call) {
	to := c.members[d.to]
	near, far := &strand{owner: d.from, peer: d.peer}, &strand{owner: to}
	near.far, far.far = far, near
	far.peer = to.engine.LinkOwner(nicOf(d.from.index), 0, far, false)
	to.engine.LinkUp(far.peer, far, false)
	d.from.engine.LinkUp(near.peer, near, true)
}

// Dial implements endpoint.Host.
func (m *member) Dial(peer int32, nic uint64, _ uint32) {
	m.dials = append(m.dials, call{m, peer, int(nic - nicOf(0))})
}

// Adopted implements endpoint.Host.
func (m *member) Adopted(peer int32, link wire.Link) { link.(*strand).peer = peer }

// Random implements endpoint.Host.
func (m *member) Random() uint64 { return uint64(m.index) + 1 }

// Tick implements endpoint.Host.
func (m *member) Tick() endpoint.Tick { return m.crowd.now }

// Unexpected implements endpoint.Host.
func (m *member) Unexpected(*endpoint.Incoming) endpoint.Action { return endpoint.Continue }

// Drop implements endpoint.Host.
func (m *member) Drop(int32, wire.Link, bool) {}

func (s *strand) Caps() *wire.Caps { return &s.owner.caps }

func (s *strand) Send(h *wire.Header, v *wire.Vec, off int) bool {
	c := s.owner.crowd
	n := len(c.queue)
	if n < cap(c.queue) {
		c.queue = c.queue[:n+1]
	} else {
		c.queue = append(c.queue, flight{})
	}
	f := &c.queue[n]
	f.to, f.h = s.far, *h
	f.h.DropAbsent()
	if h.Length > 0 {
		v.Gather(f.payload[:h.Length], off)
	}
	return true
}

func (s *strand) Reclaim()                                            {}
func (s *strand) Export(dst []byte, _ *wire.Vec) ([]byte, uint64)     { return dst, 0 }
func (s *strand) Unexport(uint64, bool)                               {}
func (s *strand) Pull([]byte, *wire.Vec, int, uint64) wire.PullResult { return wire.PullFailed }

// work is what messages cost.
type work struct {
	messages, frames int
	send, receive    time.Duration
}

// round has each sender send a burst to one of its peers, which has posted receives
// for it, and both collect what is complete. With warm it does so some times more, and
// only the last counts: endpoints of the real world have a processor each, whose
// caches hold no other endpoint. It ends when there are enough messages.
func (c *crowd) round(number, burst, warm, enough int, w *work) error {
	for _, m := range c.members {
		if w.messages >= enough {
			return nil
		}
		if len(m.peers) == 0 {
			continue
		}
		for range warm {
			if err := c.burst(m, number%len(m.peers), burst, new(work)); err != nil {
				return err
			}
		}
		if err := c.burst(m, number%len(m.peers), burst, w); err != nil {
			return err
		}
	}
	return nil
}

func (c *crowd) burst(m *member, which, burst int, w *work) error {
	receiver, frames := m.partners[which], c.frames
	began := time.Now()
	for range burst {
		if _, err := receiver.engine.Recv(&endpoint.Posting{First: receiver.buffer[:]}, nil); err != nil {
			return err
		}
	}
	posted := time.Now()
	for range burst {
		if _, err := m.engine.Send(&endpoint.Outgoing{First: m.buffer[:], To: m.peers[which], Match: 1}, nil); err != nil {
			return err
		}
	}
	if err := m.collect(); err != nil {
		return err
	}
	sent := time.Now()
	c.settle()
	if err := receiver.collect(); err != nil {
		return err
	}
	w.send += sent.Sub(posted)
	w.receive += posted.Sub(began) + time.Since(sent)
	w.messages += burst
	w.frames += c.frames - frames
	return nil
}

// rounds has each sender send a burst to each of the first of its peers.
func (c *crowd) rounds(peers, burst int, w *work) error {
	for number := range peers {
		if err := c.round(number, burst, 0, math.MaxInt, w); err != nil {
			return err
		}
	}
	return nil
}

// toSelf has each endpoint send a message to itself, so that it has the memory that
// it needs for any.
func (c *crowd) toSelf() error {
	for _, m := range c.members {
		if _, err := m.engine.Recv(&endpoint.Posting{First: m.buffer[:]}, nil); err != nil {
			return err
		}
		if _, err := m.engine.Send(&endpoint.Outgoing{First: m.buffer[:], To: m.engine.Self(), Match: 1}, nil); err != nil {
			return err
		}
		if err := m.collect(); err != nil {
			return err
		}
	}
	return nil
}

// collect takes what is complete.
func (m *member) collect() error {
	var st endpoint.Status
	for h, ok := m.engine.Peek(); ok; h, ok = m.engine.Peek() {
		if done, err := m.engine.Test(h, &st); !done || st.Code != endpoint.Success {
			return fmt.Errorf("a request of endpoint %d: %v, %v, %v", m.index, done, st.Code, err)
		}
	}
	return nil
}

// tick moves the clock of all engines.
func (c *crowd) tick() {
	c.now++
	for _, m := range c.members {
		m.engine.Advance(c.now)
		m.engine.Flush()
	}
	c.settle()
}

func mallocs() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.Mallocs
}

// quiet lets time pass until everything is acknowledged and nothing is kept.
func (c *crowd) quiet() {
	for range 110 {
		c.tick()
	}
}

// heap returns the bytes that are in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int(s.HeapAlloc)
}
