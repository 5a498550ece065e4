//go:build linux

package tcp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// secure lies under a tls.Conn. During the handshake it is the TCP connection;
// then it reads the bare socket without blocking, and collects what is written.
type secure struct {
	net.Conn
	conn   *tls.Conn
	link   *link  // nil during the handshake
	sealed []byte // encrypted, to be sent from sent on
	sent   int
}

// again is the error of a read that would have to wait. crypto/tls doesn't hold
// on to it, because it is temporary.
type again struct{}

func (again) Error() string   { return "nothing has arrived" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

var errAgain net.Error = again{}

// Read implements net.Conn.
func (s *secure) Read(b []byte) (int, error) {
	if s.link == nil {
		return s.Conn.Read(b)
	}
	n, errno := sock.Recv(s.link.fd, b)
	switch {
	case n > 0:
		return n, nil
	case errno == sock.Again:
		return 0, errAgain
	case errno != 0:
		return 0, lost("recv", errno)
	}
	return 0, io.EOF
}

// Write implements net.Conn.
func (s *secure) Write(b []byte) (int, error) {
	if s.link == nil {
		return s.Conn.Write(b)
	}
	s.sealed = append(s.link.port.pool.grow(s.sealed, len(b)), b...)
	return len(b), nil
}

// recv decrypts what has arrived into b. 0 without an error: nothing.
func (s *secure) recv(b []byte) (int, error) {
	n, err := s.conn.Read(b)
	switch {
	case n > 0 || err == errAgain:
		return n, nil
	case err == nil:
		return 0, nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, fmt.Errorf("%w: it closed the connection", transport.ErrPeerDied)
	case errors.Is(err, transport.ErrPeerDied):
		return 0, err
	}
	s.link.port.events.Count(transport.CorruptFrames)
	return 0, fmt.Errorf("%w: %w", transport.ErrCorrupt, err)
}

// flushSecure is flush for a link with TLS.
func (l *link) flushSecure() bool {
	s := l.tls
	if len(s.sealed) == 0 && len(l.out) > 0 && l.broken == nil {
		if _, err := s.conn.Write(l.out); err != nil {
			l.broken = err
		}
		l.freeOut()
	}
	if !l.full && l.broken == nil && s.sent < len(s.sealed) {
		n, errno := sock.Send(l.fd, s.sealed[s.sent:])
		if s.sent += n; s.sent < len(s.sealed) {
			l.short(errno)
		}
	}
	if l.broken != nil || s.sent == len(s.sealed) {
		if cap(s.sealed) > 0 {
			l.port.pool.put(s.sealed)
		}
		s.sealed, s.sent = nil, 0
		l.sent = 0
	}
	return len(s.sealed) == 0 && len(l.out) == 0
}

// unsent returns what is still to be sent when the link is closed.
func (s *secure) unsent() []byte {
	l := s.link
	if len(l.out) > 0 {
		_, _ = s.conn.Write(l.out)
		l.freeOut()
	}
	return s.sealed[s.sent:]
}

// startTLS shakes hands as the side that config is for.
func (h *handshake) startTLS(ctx context.Context, config *tls.Config) error {
	h.secure = &secure{Conn: h.tcp}
	if config.ClientAuth == tls.RequireAndVerifyClientCert {
		h.secure.conn = tls.Server(h.secure, config)
	} else {
		h.secure.conn = tls.Client(h.secure, config)
	}
	h.stream = h.secure.conn
	if err := h.secure.conn.HandshakeContext(ctx); startsInTheClear(err) {
		return h.onlyOneHasTLS()
	} else if err != nil {
		return fmt.Errorf("%w: TLS: %w", transport.ErrRefused, err)
	}
	h.advance()
	return nil
}

// tlsConfigs returns what each side of a connection needs, of what both have in
// common.
func tlsConfigs(c *tls.Config) (server, client *tls.Config, err error) {
	if c == nil {
		return nil, nil, nil
	}
	if len(c.Certificates) == 0 && c.GetCertificate == nil {
		return nil, nil, &transport.OptionError{Missing: "TLS needs a certificate and its key"}
	}
	if c.RootCAs == nil {
		return nil, nil, &transport.OptionError{Missing: "TLS needs the authority that vouches for peers"}
	}
	server, client = c.Clone(), c.Clone()
	for _, side := range []*tls.Config{server, client} {
		side.MinVersion, side.SessionTicketsDisabled = tls.VersionTLS13, true
	}
	server.ClientAuth = tls.RequireAndVerifyClientCert
	if server.ClientCAs == nil {
		server.ClientCAs = c.RootCAs
	}
	client.ClientAuth = tls.NoClientCert
	if client.ServerName == "" {
		// Peers are known by NIC ids, not by names, so the chain alone is checked.
		client.InsecureSkipVerify = true
		client.VerifyConnection = func(s tls.ConnectionState) error { return vouched(s, c.RootCAs) }
	}
	return server, client, nil
}

// vouched reports whether roots vouch for the peer's certificate.
func vouched(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the peer has no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}
