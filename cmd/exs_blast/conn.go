package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"gomx/exs"
)

// dialConn connects to the other side's listener with a net.Conn of package exs.
func dialConn(o order, to netip.AddrPort) (course, error) {
	l, err := o.library()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	conn, err := l.DialContext(ctx, "exs", to.String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return newConn(o, l, conn), nil
}

func newConn(o order, l *exs.Library, conn net.Conn) *connCourse {
	c := newTCP(o, conn)
	c.l = l
	return c
}

// connListener waits for one connection.
type connListener struct {
	order
	l  *exs.Library
	ln net.Listener
}

func listenConn(o order, at netip.Addr) (*connListener, error) {
	l, err := o.library()
	if err != nil {
		return nil, err
	}
	ln, err := l.Listen("exs", netip.AddrPortFrom(at, 0).String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &connListener{o, l, ln}, nil
}

func (l *connListener) addr() (netip.AddrPort, error) {
	return netip.ParseAddrPort(l.ln.Addr().String())
}
func (l *connListener) stop() { _ = l.l.Close() }

func (l *connListener) accept() (course, error) {
	defer time.AfterFunc(patience, func() { _ = l.ln.Close() }).Stop()
	conn, err := l.ln.Accept()
	if err != nil {
		return nil, err
	}
	return newConn(l.order, l.l, conn), nil
}
