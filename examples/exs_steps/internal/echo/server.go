package echo

import (
	"errors"
	"io"
	"net"
	"net/netip"

	"gomx/exs"
)

// Listen makes a server at an address: ListenTCP or ListenEXS.
type Listen func(netip.AddrPort) (Server, error)

// Server sends back what its clients send.
type Server interface {
	Addr() (netip.AddrPort, error)                                // where clients connect to
	Accept() (conn io.ReadWriter, hangUp func() error, err error) // the next client
	Close() error                                                 // ends it, and Accept with an error
}

// serve sends back what comes until the client closes the connection.
func serve(conn io.ReadWriter, hangUp func() error) error {
	_, err := io.Copy(conn, conn)
	return errors.Join(err, hangUp())
}

type tcpServer struct{ l *net.TCPListener }

// ListenTCP makes a server with normal sockets.
func ListenTCP(at netip.AddrPort) (Server, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return tcpServer{l}, nil
}

func (s tcpServer) Addr() (netip.AddrPort, error) { return netip.ParseAddrPort(s.l.Addr().String()) }
func (s tcpServer) Close() error                  { return s.l.Close() }

func (s tcpServer) Accept() (io.ReadWriter, func() error, error) {
	conn, err := s.l.Accept()
	if err != nil {
		return nil, nil, err
	}
	return conn, conn.Close, nil
}

// exsServer has a library of its own, so that it can share a process with a client.
type exsServer struct {
	l *exs.Library
	s *exs.Socket
}

// ListenEXS makes a server with EXS sockets.
func ListenEXS(at netip.AddrPort) (Server, error) {
	l, err := exs.Open(exs.Version1)
	if err != nil {
		return nil, err
	}
	s, err := l.Socket(exs.Inet, exs.Stream, 0)
	if err == nil {
		err = s.Bind(at)
	}
	if err == nil {
		err = s.Listen(5)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &exsServer{l, s}, nil
}

func (s *exsServer) Addr() (netip.AddrPort, error) { return s.s.SockName() }
func (s *exsServer) Close() error                  { return s.l.Close() }

func (s *exsServer) Accept() (io.ReadWriter, func() error, error) {
	conn, _, err := s.s.BlockingAccept()
	if err != nil {
		return nil, nil, err
	}
	return conn, conn.BlockingClose, nil
}
