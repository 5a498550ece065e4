package driver

import (
	"context"
	"errors"
	"time"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/wire"
)

// ErrListens is returned by Listen if the endpoint has a listener.
var ErrListens = errors.New("the endpoint has a listener already")

// Listener hands out the connection requests of an endpoint, one by one. Any number of goroutines may call its methods.
type Listener struct {
	d *Endpoint
	c Counter // of requests that have come
}

// Visitor is a connection request.
type Visitor struct {
	endpoint.Visitor
	Medium      string // of the link that it came over
	Credentials transport.Credentials
}

// Listen makes connection requests wait until the program accepts or refuses them.
func (d *Endpoint) Listen() (l *Listener, err error) {
	err = d.call(func(e *endpoint.Engine) error {
		if l = d.waiting; l != nil {
			d.waiting = nil
		} else if l = d.listen(); l == nil {
			return ErrListens
		}
		return nil
	})
	return l, err
}

// listen makes the listener, if there is none.
func (d *Endpoint) listen() *Listener {
	id, ok := d.eng.Listen()
	if !ok {
		return nil
	}
	return &Listener{d: d, c: Counter{member{d: d, id: id}}}
}

// ExpectCrowd permits as many waiting requests as there may be strangers. It is for a listener whose owner answers without delay.
func (l *Listener) ExpectCrowd() error {
	return l.c.call(func(e *endpoint.Engine) error { e.ExpectCrowd(); return nil })
}

// AdmitAll lets every peer with the endpoint's filter begin a session. It fails if the program has the endpoint's listener.
func (d *Endpoint) AdmitAll() error {
	return d.call(func(e *endpoint.Engine) error {
		if d.waiting == nil && e.Listens() {
			return ErrListens
		}
		d.waiting = nil
		e.StopListening(false)
		return nil
	})
}

// Wait waits for a request that nobody has taken, and takes it. If ok is false and there is no error, the timeout has passed or Wakeup
// was called. The error is ErrQueueClosed if the listener is closed.
func (l *Listener) Wait(ctx context.Context, timeout time.Duration) (v Visitor, ok bool, err error) {
	var deadline time.Time
	if timeout > 0 && timeout != Infinite {
		deadline = time.Now().Add(timeout)
	}
	for {
		came := uint64(0)
		err = l.c.call(func(e *endpoint.Engine) error {
			if timeout <= 0 {
				l.d.once()
			}
			v, ok = l.take()
			came, _ = e.Counts(l.c.m.id)
			return nil
		})
		if ok || err != nil || timeout <= 0 {
			return v, ok, err
		}
		now, _, err := l.c.Wait(ctx, came+1, timeout)
		if err != nil || now <= came {
			return v, false, err
		}
		if !deadline.IsZero() {
			timeout = max(0, time.Until(deadline))
		}
	}
}

// Take takes a request if there is one. It makes no pass.
func (l *Listener) Take() (v Visitor, ok bool) {
	_ = l.c.call(func(*endpoint.Engine) error { v, ok = l.take(); return nil })
	return v, ok
}

// take takes the oldest request. The lock is held.
func (l *Listener) take() (v Visitor, ok bool) {
	if v.Visitor, ok = l.d.eng.TakeVisitor(); ok {
		l.d.describe(&v)
	}
	return v, ok
}

// describe adds what the medium knows about the peer that has made a request. The lock is held.
func (d *Endpoint) describe(v *Visitor) {
	v.Credentials = transport.Credentials{UID: -1}
	link := d.eng.VisitorLink(v.Handle)
	if link == nil {
		return
	}
	v.Medium = link.Caps().Name
	if l, ok := link.(transport.Credentialed); ok {
		v.Credentials = l.Credentials()
	}
}

// Ready makes a request that completes when a connection request waits to be taken, or one more has come. If the queue is
// not nil, the request completes into it; it must be a queue over this endpoint alone.
func (l *Listener) Ready(match uint64, ctx any, in *Queue) (h endpoint.Handle, err error) {
	err = l.c.call(func(e *endpoint.Engine) error {
		count, _ := e.Counts(l.c.m.id)
		if !e.Visited() {
			count++
		}
		h = e.Threshold(l.c.m.id, count, match, ctx)
		if in == nil {
			return nil
		}
		m := &in.members[0]
		if err := m.over(); err != nil {
			_ = e.Forget(h)
			return err
		}
		return e.Enqueue(h, m.id)
	})
	return h, err
}

// Accept accepts a request; see the engine.
func (l *Listener) Accept(h endpoint.Handle, answer []byte) (a endpoint.Addr, code endpoint.Code, err error) {
	err = l.d.call(func(e *endpoint.Engine) error {
		l.d.advance()
		a, code, err = e.Accept(h, answer)
		return err
	})
	return a, code, err
}

// Refuse refuses a request; see the engine.
func (l *Listener) Refuse(h endpoint.Handle, answer []byte) error {
	return l.d.call(func(e *endpoint.Engine) error {
		l.d.advance()
		return e.Refuse(h, answer)
	})
}

// Close refuses all requests that wait. With shut the endpoint also refuses every peer that wants to begin a session from now on. A
// second Close does nothing.
func (l *Listener) Close(shut bool) {
	d := l.d
	d.lockForeign()
	defer d.unlock()
	if l.c.m.over() == nil {
		d.eng.StopListening(shut)
		d.after()
	}
	l.c.m.closed = true
}

// MostConnectData is the largest size of the data of a connect and of its answer, in bytes.
const MostConnectData = wire.MaxConnectData

// UnderReview reports whether the program at a peer has been asked about a connect to it that is pending.
func (d *Endpoint) UnderReview(nic uint64, id uint32) (asked bool) {
	d.visit()
	defer d.unlock()
	return d.eng.UnderReview(d.eng.PeerOf(nic, id))
}
