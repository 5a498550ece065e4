//go:build linux

package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"gomx/transport"
)

// acceptAgain is the pause after a failure, and while no pending handshake can be evicted.
const acceptAgain = 10 * time.Millisecond

func (a *acceptor) accept(listener *net.TCPListener) {
	defer a.busy.Done()
	for {
		c, err := listener.AcceptTCP()
		if err != nil {
			if a.life.Err() != nil {
				return
			}
			a.refuse(nil, fmt.Errorf("accepting on %v: %w", listener.Addr(), err))
			select { // out of descriptors, most likely: some may come free
			case <-a.life.Done():
			case <-time.After(acceptAgain):
			}
			continue
		}
		h := a.pending.admit(a.life, c)
		if h == nil {
			_ = c.Close()
			return
		}
		a.busy.Add(1)
		go func() {
			defer a.busy.Done()
			a.serve(h)
		}()
	}
}

// inbound is the handshake with a peer that has dialled an acceptor. The Listener is
// set once the peer has said its purpose.
type inbound struct {
	handshake
	ctx      context.Context // ends with the acceptor or with the Listener
	end      context.CancelFunc
	listener *Listener
}

// serve runs the handshake with a peer that has dialled us.
func (a *acceptor) serve(h *pendingHandshake) {
	from := h.conn.RemoteAddr()
	in := &inbound{handshake: handshake{acceptor: a, tcp: h.conn, pending: h, deadline: h.came.Add(a.opt.ConnectTimeout)}}
	in.ctx, in.end = context.WithCancel(a.life)
	defer in.end()
	err := in.run(in.ctx, a.server, in.talk)
	if evicted := h.remove(); evicted != nil && err != nil {
		err = evicted
	}
	_, unserved := errors.AsType[*notServedError](err)
	if err != nil && !unserved && !errors.Is(err, transport.ErrClosed) { // a side without RDMA, and one that closes, are ordinary
		who := from.String()
		if in.theirs.self != (transport.Address{}) {
			who = fmt.Sprintf("%v at %s", in.theirs.self, who)
		}
		if in.theirs.purpose != Frames {
			who += fmt.Sprintf(" for %v", in.theirs.purpose)
		}
		a.refuse(in.listener, fmt.Errorf("tcp: %v: refused %s: %w", a.self, who, err))
	}
	if in.listener != nil {
		in.listener.users.Done()
	}
}

// unserved is the answer to a peer whose purpose has no Listener. Accepting began when each had one that is to be served.
func (a *acceptor) unserved(purpose Purpose) answer {
	if slices.Contains(a.opt.Serves, purpose) {
		return closing
	}
	return notServed
}

// talk is the handshake of the side that was dialled, and what follows it.
func (in *inbound) talk() error {
	a := in.acceptor
	if err := in.readHello(); err != nil {
		return err
	}
	mine := a.hello(in.theirs.self, in.theirs.purpose)
	if mine.answer = a.admission(&mine, &in.theirs); mine.answer == welcome {
		if in.listener = a.listenerFor(in.theirs.purpose); in.listener == nil {
			mine.answer = a.unserved(in.theirs.purpose)
		}
	}
	if in.listener != nil {
		defer context.AfterFunc(in.listener.life, in.end)()
	}
	if err := in.respond(&mine); err != nil {
		return err
	}
	in.advance()
	return in.exchange(in.ctx, in.listener.onPeer)
}
