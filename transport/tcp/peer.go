//go:build linux

package tcp

import (
	"context"
	"net"
	"net/netip"
	"time"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// Peer is the identity of an authenticated peer, and the connection to it. Only the
// Exchange that it was passed to may use it.
type Peer struct {
	Conn    net.Conn          // with TLS if that is on; its deadline is that of the Exchange
	Address transport.Address // of the peer
	Session uint32            // of the peer
	Remote  netip.AddrPort    // the peer's end of the connection

	handshake *handshake
}

// Credentials returns what the handshake has shown of the peer.
func (peer *Peer) Credentials() *transport.Credentials {
	c := &transport.Credentials{UID: -1, Remote: peer.Remote, Secret: len(peer.handshake.acceptor.opt.Secret) > 0}
	if s := peer.handshake.secure; s != nil {
		c.Certificates = s.conn.ConnectionState().PeerCertificates
	}
	return c
}

// exchange runs next, now that the peer is authenticated.
func (h *handshake) exchange(ctx context.Context, next Exchange) error {
	ctx, cancel := context.WithDeadline(ctx, h.deadline)
	defer cancel()
	remote := h.remote()
	if o := h.acceptor.opt; o.OnPeer != nil {
		o.OnPeer(h.theirs.self.NIC, remote.Addr().Unmap())
	}
	return asRefusal(next(ctx, &Peer{
		Conn: h.stream, Address: h.theirs.self, Session: h.theirs.session, Remote: remote, handshake: h,
	}))
}

// Take makes the connection the caller's, who closes it. It has no deadline any
// more, and no context that ends it. The error, transport.ErrClosed or that of an
// evicted handshake, means that the connection is closed already.
func (peer *Peer) Take() (net.Conn, error) {
	if err := peer.handshake.take(); err != nil {
		return nil, err
	}
	return peer.Conn, peer.Conn.SetDeadline(time.Time{})
}

// TakeFD is Take for whoever wants the socket itself, without the Go poller and
// without TLS. The descriptor does not block, and the caller closes it.
func (peer *Peer) TakeFD() (int, error) {
	if err := peer.handshake.take(); err != nil {
		return -1, err
	}
	return sock.Take(peer.handshake.tcp)
}

// take lets the connection outlive the handshake.
func (h *handshake) take() error {
	if !h.unwatch() {
		return transport.ErrClosed
	}
	if h.pending != nil {
		if err := h.pending.remove(); err != nil {
			return err
		}
	}
	h.taken = true
	return nil
}
