package mx

import (
	"net/netip"

	"gomx/transport"
	"gomx/transport/nic"
	"gomx/transport/shm"
	"gomx/transport/tcp"
)

// Defaults and bounds of the variables.
const (
	defaultPortBase       = tcp.DefaultPortBase
	defaultKeepAlive      = tcp.DefaultKeepAlive
	defaultConnectTimeout = tcp.DefaultConnectTimeout
	leastKeepAlive        = tcp.LeastKeepAlive
)

var tcpMedium = medium{
	about: "processes on this and other hosts",
	auto:  true,
	far:   true,
	bell:  shm.NewBell, // which watches sockets as well
	make:  func(s *site) (transport.Transport, error) { return s.handshake(), nil },
}

// tcpTransport is shared by the transports that shake hands with their peers over TCP.
type tcpTransport = tcp.Transport

// purposes are those of the connections that peers make, by the transport that serves them.
var purposes = map[string]tcp.Purpose{"tcp": tcp.Frames, "rdma": tcp.RDMA}

// handshake returns the transport whose handshake the transports that are being made
// use. They share one.
func (s *site) handshake() *tcpTransport {
	if s.tcp != nil {
		return s.tcp
	}
	var serves []tcp.Purpose
	for _, name := range s.names {
		if p, ok := purposes[name]; ok {
			serves = append(serves, p)
		}
	}
	s.tcp = tcp.New(tcp.Options{
		Serves: serves, PortBase: s.env.portBase, Ports: s.env.ports,
		Listen: func(self transport.Address) []netip.Addr { return s.dir.Addrs(nic.ID(self.NIC)) },
		Addrs:  func(id uint64) []netip.Addr { return s.dir.Addrs(nic.ID(id)) },
		OnPeer: func(id uint64, from netip.Addr) { s.dir.Learn(nic.ID(id), from, "") },
		Other:  func(answered uint64, at netip.Addr) { s.dir.LearnOther(nic.ID(answered), at) },
		Secret: s.env.secret, TLS: s.env.tls,
		KeepAlive: s.env.keepAlive, ConnectTimeout: s.env.connectTimeout,
	})
	return s.tcp
}
