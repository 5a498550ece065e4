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

// Met is a peer that has proven itself, and the connection to it. It is for the
// Exchange that it was given to.
type Met struct {
	Conn    net.Conn          // with TLS if that is on; its deadline is that of the Exchange
	Address transport.Address // of the peer
	Session uint32            // of the peer
	Remote  netip.AddrPort    // where the peer was met

	meeting *meeting
}

// exchange has the sides go on, now that they know each other.
func (m *meeting) exchange(ctx context.Context, goOn Exchange) error {
	ctx, cancel := context.WithDeadline(ctx, m.deadline)
	defer cancel()
	remote := m.remote()
	if o := m.place.opt; o.Met != nil {
		o.Met(m.theirs.self.NIC, remote.Addr().Unmap())
	}
	return asRefusal(goOn(ctx, &Met{
		Conn: m.stream, Address: m.theirs.self, Session: m.theirs.session, Remote: remote, meeting: m,
	}))
}

// Take makes the connection the caller's, who closes it. It has no deadline any
// more, and no context that ends it. The error, transport.ErrClosed or that of a
// guest who had to make room for others, means that it is closed already.
func (m *Met) Take() (net.Conn, error) {
	if err := m.meeting.take(); err != nil {
		return nil, err
	}
	return m.Conn, m.Conn.SetDeadline(time.Time{})
}

// TakeFD is Take for whoever wants the socket itself, without the Go poller and
// without TLS. The descriptor does not block, and the caller closes it.
func (m *Met) TakeFD() (int, error) {
	if err := m.meeting.take(); err != nil {
		return -1, err
	}
	return sock.Take(m.meeting.tcp)
}

// take lets the connection outlive the meeting.
func (m *meeting) take() error {
	if !m.unwatch() {
		return transport.ErrClosed
	}
	if m.guest != nil {
		if err := m.guest.leave(); err != nil {
			return err
		}
	}
	m.taken = true
	return nil
}
