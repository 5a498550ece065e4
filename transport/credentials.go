package transport

import (
	"crypto/x509"
	"net/netip"
)

// Credentials are what a medium knows of the other side of a link beside its address.
type Credentials struct {
	PID          int                 // of its process on this host; 0: not known
	UID          int                 // of its user on this host; -1: not known
	Remote       netip.AddrPort      // the other end of a connection; invalid on this host
	Secret       bool                // it has proven that it has the secret
	Certificates []*x509.Certificate // that it has shown in TLS, its own first; they have been verified
}

// Credentialed is a Link whose medium knows something of its peer. The method is called with the endpoint's lock held.
type Credentialed interface {
	// Credentials returns what the handshake has shown of the peer.
	Credentials() Credentials
}
