package main

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"gomx/exs"
)

// connCourse is a net.Conn, with calls that block: a TCP connection, or one of exs.
type connCourse struct {
	order
	conn net.Conn
	buf  []byte
	l    *exs.Library // nil over TCP
}

func newTCP(o order, conn net.Conn) *connCourse {
	return &connCourse{order: o, conn: conn, buf: make([]byte, o.Length)}
}

func dialTCP(o order, to netip.AddrPort) (course, error) {
	conn, err := net.DialTimeout("tcp", to.String(), patience)
	if err != nil {
		return nil, err
	}
	return newTCP(o, conn), nil
}

// tcpListener waits for one connection.
type tcpListener struct {
	order
	l *net.TCPListener
}

func listenTCP(o order, at netip.Addr) (*tcpListener, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
	if err != nil {
		return nil, err
	}
	return &tcpListener{o, l}, nil
}

func (l *tcpListener) addr() (netip.AddrPort, error) {
	return netip.ParseAddrPort(l.l.Addr().String())
}
func (l *tcpListener) stop() { _ = l.l.Close() }

func (l *tcpListener) accept() (course, error) {
	if err := l.l.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	conn, err := l.l.Accept()
	if err = errors.Join(err, l.l.Close()); err != nil {
		return nil, err
	}
	return newTCP(l.order, conn), nil
}

func (c *connCourse) transport() string {
	if c.l == nil {
		return "sockets"
	}
	return mediumOf(c.l)
}

func (c *connCourse) abort() { _ = c.close() }

func (c *connCourse) close() error {
	err := c.conn.Close()
	if c.l != nil {
		err = errors.Join(err, c.l.Close())
	}
	return err
}

func (c *connCourse) send(number int, check bool) error {
	if check {
		stamp(c.buf, number)
	}
	_, err := c.conn.Write(c.buf)
	return err
}

func (c *connCourse) receive(number int, check bool) error {
	if check {
		clear(c.buf)
	}
	if _, err := io.ReadFull(c.conn, c.buf); err != nil {
		return err
	}
	if check {
		return verify(c.buf, number)
	}
	return nil
}

func (c *connCourse) blast(count int, check bool) error {
	for number := range count {
		if err := c.send(number, check); err != nil {
			return err
		}
	}
	var all [1]byte
	_, err := io.ReadFull(c.conn, all[:])
	return err
}

func (c *connCourse) take(count int, check bool, ready func() error) error {
	if err := ready(); err != nil {
		return err
	}
	for number := range count {
		if err := c.receive(number, check); err != nil {
			return err
		}
	}
	_, err := c.conn.Write([]byte{1})
	return err
}

func (c *connCourse) lead(first, count int, check bool) error {
	for number := first; number < first+count; number++ {
		if err := c.send(number, check); err != nil {
			return err
		}
		if err := c.receive(number, check); err != nil {
			return err
		}
	}
	return nil
}

func (c *connCourse) follow(count int, check bool, ready func() error) error {
	if err := ready(); err != nil {
		return err
	}
	for number := range count {
		if err := c.receive(number, check); err != nil {
			return err
		}
		if _, err := c.conn.Write(c.buf); err != nil {
			return err
		}
	}
	return nil
}
