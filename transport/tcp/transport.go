//go:build linux

package tcp

import (
	"cmp"
	"crypto/tls"
	"net/netip"
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

// Defaults of Options.
const (
	// DefaultPortBase is the port of endpoint 0.
	DefaultPortBase = 20000
	// DefaultPorts is how many endpoints a board can have. The range ends below
	// the ports that Linux gives to outgoing connections.
	DefaultPorts = 4096
	// DefaultKeepAlive is how long a host may have vanished before its links end.
	DefaultKeepAlive = 10 * time.Second
	// DefaultConnectTimeout is how long one address may take to answer.
	DefaultConnectTimeout = 3 * time.Second
	// DefaultEager is the largest message sent unasked, bytes. Above it the copy
	// that reading straight into place saves is worth asking first.
	DefaultEager = 64 << 10
)

// Largest payloads, bytes.
const (
	// MaxFrame is that of a frame of any kind but PullData.
	MaxFrame = 256 << 10
	// MaxPullFrame is that of a PullData frame without TLS, which usually needs no buffer:
	// its payload is read into its place. With TLS it is MaxFrame.
	MaxPullFrame = 1 << 20
)

// Options of the transport.
type Options struct {
	// PortBase is the port of endpoint 0; endpoint e has PortBase+e. 0 means
	// DefaultPortBase.
	PortBase int
	// Ports is how many endpoints have a port. 0 means DefaultPorts.
	Ports int

	// Listen returns the addresses of the board that self was opened on.
	Listen func(self transport.Address) []netip.Addr
	// Addrs returns the addresses at which a board may be reached, the best
	// first. It may be called concurrently.
	Addrs func(nic uint64) []netip.Addr
	// OnPeer, if not nil, is called with the address at which a peer was
	// authenticated. It may be called concurrently.
	OnPeer func(nic uint64, from netip.Addr)

	// Other, if not nil, is called with the board that has proven itself at an address
	// where another one was asked for. It may be called concurrently.
	Other func(answered uint64, at netip.Addr)

	// Serves are the purposes that endpoints are opened for: Frames by Open, others
	// by Join. An endpoint accepts nobody before it is open for all of them, so that
	// no peer hears too early that one is not served. nil means Frames alone.
	Serves []Purpose

	// Secret, if not empty, must be known to both sides of a connection.
	Secret []byte
	// TLS, if not nil, has all connections run TLS 1.3. Both sides need a
	// certificate, good for clients and servers, that the other's RootCAs vouch
	// for. The name in it counts only if ServerName is set.
	TLS *tls.Config

	// KeepAlive bounds how long a host that has vanished goes unnoticed; whole
	// seconds, LeastKeepAlive or more. 0 means DefaultKeepAlive.
	KeepAlive time.Duration
	// ConnectTimeout bounds connection and handshake with one address. 0 means
	// DefaultConnectTimeout.
	ConnectTimeout time.Duration

	// Eager is the largest message sent eagerly unless told otherwise, bytes, at
	// most MaxFrame. 0 means DefaultEager.
	Eager int
	// SendBuffer and ReceiveBuffer are the sizes of the socket's buffers, bytes.
	// 0 leaves them to the system, which lets them grow with use.
	SendBuffer, ReceiveBuffer int
}

// LeastKeepAlive is the shortest KeepAlive that the system's timers can hold.
const LeastKeepAlive = 3 * time.Second

// Transport is the TCP transport. Its methods may be called concurrently.
type Transport struct {
	opt       Options
	caps      wire.Caps
	acceptors acceptors
}

// New returns the transport.
func New(opt Options) *Transport {
	opt.PortBase = cmp.Or(opt.PortBase, DefaultPortBase)
	opt.Ports = cmp.Or(opt.Ports, DefaultPorts)
	opt.KeepAlive = max(cmp.Or(opt.KeepAlive, DefaultKeepAlive), LeastKeepAlive)
	opt.ConnectTimeout = cmp.Or(opt.ConnectTimeout, DefaultConnectTimeout)
	opt.Eager = min(cmp.Or(opt.Eager, DefaultEager), MaxFrame)
	if opt.Serves == nil {
		opt.Serves = []Purpose{Frames}
	}
	return &Transport{opt: opt, caps: caps(&opt), acceptors: acceptors{at: map[transport.Address]*acceptor{}}}
}

// Name returns "tcp".
func (t *Transport) Name() string { return "tcp" }
