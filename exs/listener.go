package exs

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// backlog is how many connections are made before there is an Accept for them.
const backlog = 128

// Listener is a listening socket in Go's manner: a net.Listener. Listen makes one; calls on a nil or zero Listener return EINVAL. All methods may
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

// Listen listens at an address for connections of Dial and Connect, as net.Listen
// does. The network is one of those of Dial. Without an address it takes any port; without a host it listens at all IPv4
// addresses, or all IPv6 addresses if the network is "exs6" or "tcp6". It uses the
// default library, which it initializes if Init was not called. Errors are of type *net.OpError.
func Listen(network, address string) (net.Listener, error) {
	l, err := initialized()
	if err != nil {
		return nil, err
	}
	return l.Listen(network, address)
}

// Listen is the function Listen in this library.
func (l *Library) Listen(network, address string) (net.Listener, error) {
	if l.none() {
		return nil, absentNet("listen", noLibrary)
	}
	n, err := l.listen(network, address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: err}
	}
	return n, nil
}

func (l *Library) listen(network, address string) (*Listener, error) {
	if address == "" {
		address = ":0"
	}
	found, err := resolve(context.Background(), network, address)
	if err != nil {
		return nil, err
	}
	q, err := l.Queue(1)
	if err != nil {
		return nil, err
	}
	s, err := l.Socket(domainOf(found[0]), Stream, 0)
	if err != nil {
		return nil, err
	}
	if err = s.Bind(found[0]); err == nil {
		err = s.Listen(backlog)
	}
	if err != nil {
		_ = s.Close(Block, nil, nil)
		return nil, err
	}
	s.events() // whoever looks is ready: clients need not wait for the first Accept
	n := &Listener{s: s, q: q, look: make(chan struct{}, 1)}
	q.signal = n.look
	n.deadline.tell = n.interrupt
	return n, nil
}

func (n *Listener) ready() bool { return n.q.ready() || n.deadline.passed.Load() || n.closed.Load() }

func (n *Listener) interrupt() {
	select {
	case n.look <- struct{}{}:
	default:
	}
}

// wait waits for a connection, or a reason to wait no longer. Connections are made over TCP: the wait needs nothing of the
// endpoint, where it would be the company that keeps another goroutine from waiting there by itself, and quicker.
func (n *Listener) wait() {
	for !n.ready() {
		select {
		case <-n.look:
		case <-n.s.l.over:
			return
		}
	}
}

// Accept waits for the next connection, a *Conn. Errors: net.ErrClosed,
// os.ErrDeadlineExceeded.
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
			return newConn(e[0].NewSocket), nil
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
		return os.ErrDeadlineExceeded
	}
	return nil
}

// SetDeadline sets the deadline of Accept. The zero time means none. Error: net.ErrClosed.
func (n *Listener) SetDeadline(t time.Time) error {
	if n.none() {
		return absentNet("set deadline", noListener)
	}
	if n.closed.Load() {
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

// Addr returns the address, an Addr. Port 0 has become a real one.
func (n *Listener) Addr() net.Addr {
	if n.none() {
		return nil
	}
	return Addr{n.s.local}
}

func (n *Listener) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: network, Addr: n.Addr(), Err: gone(err)}
}
