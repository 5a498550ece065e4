package main

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"gomx/exs"
	"gomx/mx"
)

// exsCourse is an EXS connection. Operations carry the slot that they use as their
// handle.
type exsCourse struct {
	order
	l       *exs.Library
	s       *exs.Socket
	q       *exs.Queue
	mem     *exs.Memory
	from    *exs.Memory // what is sent from it is registered with
	slots   [][]byte
	numbers []int // of the messages in the slots
	events  []exs.Event
	taking  exs.Flags
	inlined bool // a message is copied, and its buffer free, when the call that sends it returns
	got     []got
}

// got is where the message of a slot lies, and whether that has to be given back.
type got struct {
	bytes   []byte
	inPlace bool
}

// library opens a library with the options of the order.
func (o *order) library() (*exs.Library, error) {
	var params []mx.Param
	if len(o.Transports) > 0 {
		params = append(params, mx.WithTransports(o.Transports...))
	}
	if o.Spin >= 0 {
		params = append(params, mx.WithSpin(o.Spin))
	}
	return exs.Open(exs.Version1, params...)
}

// socket opens a library, and a socket with the options of the order.
func (o *order) socket(local netip.Addr) (l *exs.Library, s *exs.Socket, err error) {
	if l, err = o.library(); err != nil {
		return nil, nil, err
	}
	domain, typ := exs.Inet6, exs.SeqPacket
	if local.Is4() {
		domain = exs.Inet
	}
	if o.Type == typeStream {
		typ = exs.Stream
	}
	if s, err = l.Socket(domain, typ, 0); err == nil {
		_, err = s.Fcntl(exs.SetFlowControlCredits, max(exs.DefaultCredits, o.InFlight))
	}
	if err == nil && o.small() {
		_, err = s.Fcntl(exs.SetSPMaxSize, exs.MaxSmallPacket)
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, s, nil
}

// dialEXS connects to the other side's listener.
func dialEXS(o order, to netip.AddrPort) (course, error) {
	l, s, err := o.socket(to.Addr())
	if err != nil {
		return nil, err
	}
	if err := s.Connect(to, exs.Block, patience, nil, nil); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return newEXS(o, l, s)
}

// exsListener waits for one connection.
type exsListener struct {
	order
	l *exs.Library
	s *exs.Socket
}

func listenEXS(o order, at netip.Addr) (*exsListener, error) {
	l, s, err := o.socket(at)
	if err != nil {
		return nil, err
	}
	if err = s.Bind(netip.AddrPortFrom(at, 0)); err == nil {
		err = s.Listen(1)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &exsListener{o, l, s}, nil
}

func (l *exsListener) addr() (netip.AddrPort, error) { return l.s.SockName() }
func (l *exsListener) stop()                         { _ = l.l.Close() }

func (l *exsListener) accept() (course, error) {
	q, err := l.l.Queue(1)
	if err != nil {
		return nil, err
	}
	if _, err := l.s.Accept([]exs.AcceptAddr{{}}, 0, q); err != nil {
		return nil, err
	}
	var events [1]exs.Event
	switch n, err := q.Dequeue(events[:], patience); {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, fmt.Errorf("nobody has connected within %v", patience)
	case events[0].Errno != 0:
		return nil, events[0].Errno
	}
	return newEXS(l.order, l.l, events[0].NewSocket)
}

// newEXS makes the buffers, which are registered as one.
func newEXS(o order, l *exs.Library, s *exs.Socket) (course, error) {
	n := max(2, o.InFlight)
	c := &exsCourse{order: o, l: l, s: s, numbers: make([]int, n), events: make([]exs.Event, n), got: make([]got, n)}
	all := make([]byte, n*max(o.Length, 1))
	var err error
	if c.mem, err = l.Register(all, 0); err == nil {
		c.q, err = l.Queue(2 * n)
	}
	inline := 0
	if err == nil {
		inline, err = s.Fcntl(exs.GetInlineMaxSize, 0)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	for i := range n {
		c.slots = append(c.slots, all[i*o.Length:][:o.Length:o.Length])
	}
	if o.Type == typeStream {
		c.taking = exs.WaitAll
	}
	c.inlined = o.Length <= inline
	c.from = c.mem
	if o.small() {
		c.from = exs.Unregistered
	}
	switch o.Mode {
	case modeInPlace:
		c.taking, c.inlined = exs.InPlace, false // which is told by an event
	case modePersistent:
		return newPersistent(c)
	}
	return c, nil
}

func (c *exsCourse) transport() string { return mediumOf(c.l) }

// mediumOf names what a library's connection runs over.
func mediumOf(l *exs.Library) string {
	ep, err := l.Endpoint()
	if err != nil {
		return ""
	}
	for _, p := range ep.Peers() {
		return p.Transport
	}
	return ""
}

func (c *exsCourse) abort() { _ = c.l.Close() }

func (c *exsCourse) close() error {
	return errors.Join(c.s.BlockingClose(), c.q.Delete(), c.mem.Deregister(0), c.l.Close())
}

// send sends a message from a slot.
func (c *exsCourse) send(slot int) error {
	_, err := c.s.Send(c.slots[slot], 0, c.q, slot, c.from)
	return err
}

// receive receives a message into a slot.
func (c *exsCourse) receive(slot int) error {
	_, err := c.s.Recv(c.slots[slot], c.taking, c.q, slot, c.mem)
	return err
}

// seen looks at how an operation ended.
func (c *exsCourse) seen(e *exs.Event) (slot int, err error) {
	if e.Errno != 0 {
		return 0, fmt.Errorf("%v: %w", e.Type, e.Errno)
	}
	if e.Length != c.Length || e.AmountLost != 0 {
		return 0, fmt.Errorf("%w: %d of %d bytes, and %d lost", errCorrupt, e.Length, c.Length, e.AmountLost)
	}
	slot = e.AHandle.(int)
	if e.Type == exs.EvtRecv {
		c.got[slot] = got{e.Buffer, e.InPlace}
	}
	return slot, nil
}

// giveBack is done with the message of a slot.
func (c *exsCourse) giveBack(slot int) error {
	if !c.got[slot].inPlace {
		return nil
	}
	return c.s.RecycleRcvBuffer(c.got[slot].bytes)
}

// flow keeps as many operations in flight as it may until count have ended. start
// begins the one of a number in a slot, end gets the slot that has ended. ready is
// called when the first ones have started.
func (c *exsCourse) flow(count int, start func(slot, number int) error, ready func() error, end func(slot int) error) error {
	started := 0
	for ; started < min(count, c.InFlight); started++ {
		if err := start(started, started); err != nil {
			return err
		}
	}
	if err := ready(); err != nil {
		return err
	}
	for ended := 0; ended < count; {
		n, err := c.q.Dequeue(c.events, exs.Infinite)
		if err != nil {
			return err
		}
		for i := range n {
			slot, err := c.seen(&c.events[i])
			if err == nil {
				err = end(slot)
			}
			if err == nil && started < count {
				err = start(slot, started)
				started++
			}
			if err != nil {
				return err
			}
		}
		ended += n
	}
	return nil
}

func (c *exsCourse) blast(count int, check bool) error {
	err := c.flow(count, func(slot, number int) error {
		if check {
			stamp(c.slots[slot], number)
		}
		return c.send(slot)
	}, func() error { return nil }, func(int) error { return nil })
	if err != nil {
		return err
	}
	var all [1]byte
	n, err := c.s.BlockingRecv(all[:], 0, exs.Unregistered)
	if err == nil && n == 0 {
		err = errClosed
	}
	return err
}

func (c *exsCourse) take(count int, check bool, ready func() error) error {
	err := c.flow(count, func(slot, number int) error {
		if check {
			clear(c.slots[slot])
			c.numbers[slot] = number
		}
		return c.receive(slot)
	}, ready, func(slot int) error {
		if check {
			if err := verify(c.got[slot].bytes, c.numbers[slot]); err != nil {
				return err
			}
		}
		return c.giveBack(slot)
	})
	if err != nil {
		return err
	}
	_, err = c.s.BlockingSend([]byte{1}, 0, exs.Unregistered)
	return err
}

// patience is how long one side waits for the other to come.
const patience = 10 * time.Second
