package exs

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Listener is a listening socket in Go's manner: a net.Listener. Listen and ListenConfig.Listen make one; calls on a nil or zero Listener return EINVAL. All methods may
// be called from any goroutine.
type Listener struct {
	s        *Socket
	q        *Queue
	look     chan struct{} // something has changed
	turn     sync.Mutex
	deadline deadline
	closed   atomic.Bool
}

var _ net.Listener = (*Listener)(nil)

// newListener makes a Listener of a socket that listens, and a queue for what it accepts.
func newListener(s *Socket, q *Queue) *Listener {
	s.events() // this opens the listener: clients need not wait for the first Accept
	n := &Listener{s: s, q: q, look: make(chan struct{}, 1)}
	q.signal = n.look
	n.deadline.tell = n.interrupt
	return n
}

func (n *Listener) ready() bool { return n.q.ready() || n.deadline.passed.Load() || n.closed.Load() }

func (n *Listener) interrupt() {
	select {
	case n.look <- struct{}{}:
	default:
	}
}

// wait waits for a connection, or for a reason to stop. Connections are made over TCP, so the wait needs no progress of the endpoint.
// If it took part there, the endpoint would count as used by several goroutines, and waits of others would be slower.
func (n *Listener) wait() {
	for !n.ready() {
		select {
		case <-n.look:
		case <-n.s.l.over:
			return
		}
	}
}

// Accept waits for the next connection, a *Conn, or a *SeqPacketConn if the network is one of packets. Errors: net.ErrClosed,
// os.ErrDeadlineExceeded. EMFILE and ENFILE, which are temporary as with package net, say that too few file
// descriptors are left for a client that wants to connect. The client waits until there are more, and so may the next Accept.
func (n *Listener) Accept() (net.Conn, error) {
	if n.none() {
		return nil, absentNet("accept", noListener)
	}
	n.turn.Lock()
	defer n.turn.Unlock()
	for {
		if err := n.stopped(); err != nil {
			return nil, n.fault("accept", err)
		}
		if _, err := n.s.Accept(make([]AcceptAddr, 1), 0, n.q); err != nil {
			return nil, n.fault("accept", err)
		}
		n.wait()
		if !n.q.ready() {
			_, _ = n.s.Cancel(nil, CancelAll)
		}
		var e [1]Event
		if _, err := n.q.Dequeue(e[:], Infinite); err != nil {
			return nil, n.fault("accept", err)
		}
		switch {
		case e[0].NewSocket != nil:
			return netConn(e[0].NewSocket), nil
		case outOfFiles(e[0].Errno):
			return nil, n.fault("accept", shortage{e[0].Errno})
		case e[0].Errno != ECANCELED:
			return nil, n.fault("accept", e[0].Errno)
		}
	}
}

func (n *Listener) stopped() error {
	switch {
	case n.closed.Load():
		return net.ErrClosed
	case n.deadline.passed.Load():
		return n.s.l.late()
	}
	return nil
}

// SetDeadline sets the deadline of Accept. The zero time means none. Error: net.ErrClosed.
func (n *Listener) SetDeadline(t time.Time) error {
	if n.none() {
		return absentNet("set deadline", noListener)
	}
	if n.closed.Load() || n.s.l.isClosed() {
		return n.fault("set deadline", net.ErrClosed)
	}
	n.deadline.set(t)
	return nil
}

// Close stops listening. Accepts that wait end with net.ErrClosed, as does a second
// Close.
func (n *Listener) Close() error {
	if n.none() {
		return absentNet("close", noListener)
	}
	if !n.closed.CompareAndSwap(false, true) {
		return n.fault("close", net.ErrClosed)
	}
	n.deadline.stop()
	err := n.s.Close(Block, nil, nil)
	n.interrupt()
	if err != nil && !errors.Is(err, EBADF) {
		return n.fault("close", err)
	}
	return nil
}

// Addr returns the address, an Addr, or a SeqPacketAddr if the network is one of packets. Port 0 has become a real one.
func (n *Listener) Addr() net.Addr {
	if n.none() {
		return nil
	}
	return addrFor(n.s.typ, n.s.local)
}

func (n *Listener) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: n.s.network(), Addr: n.Addr(), Err: gone(err)}
}
