//go:build linux

package tcp

import (
	"context"
	"fmt"
	"runtime"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// Available returns nil: sockets are there wherever Linux is.
func (t *Transport) Available() error { return nil }

// Open joins the endpoint for Frames. The errors are those of Join.
func (t *Transport) Open(o transport.Open) (transport.Port, error) {
	p := &port{caps: &t.caps, events: o.Events, bell: o.Bell, narrow: runtime.GOMAXPROCS(0) == 1}
	var err error
	if p.listener, err = t.Join(o, Frames, p.accept); err != nil {
		return nil, fmt.Errorf("tcp: %w", err)
	}
	return p, nil
}

// Dial makes a link to the endpoint at peer. Its errors are those of Listener.Dial.
func (p *port) Dial(ctx context.Context, peer transport.Address) (transport.Link, error) {
	var l *link
	err := p.listener.Dial(ctx, peer, func(_ context.Context, peer *Peer) (err error) {
		l, err = p.newLink(peer)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tcp: %w", transport.Shortage(err))
	}
	return l, nil
}

// accept makes a link to a peer that has dialled us.
func (p *port) accept(_ context.Context, peer *Peer) error {
	l, err := p.newLink(peer)
	if err == nil {
		p.events.Accepted(l)
	}
	return err
}

// newLink takes the socket away from the Go poller.
func (p *port) newLink(peer *Peer) (*link, error) {
	fd, err := peer.TakeFD()
	if err != nil {
		return nil, err
	}
	l := &link{
		fd: fd, peer: -1, key: -1, port: p, tls: peer.handshake.secure,
		address: peer.Address, session: peer.Session, remote: peer.Remote, credentials: peer.Credentials(),
	}
	if l.tls != nil {
		l.tls.link = l
	}
	if err := p.keep(l); err != nil {
		sock.Close(fd)
		return nil, err
	}
	return l, nil
}
