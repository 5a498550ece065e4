//go:build linux

package exs_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"

	"gomx/exs"
	"gomx/integration/internal/proc"
)

// messageSize is the length of what a crowd sends.
const messageSize = 64

// echo is a role: a server that takes a number of connections and sends back what
// comes. Asked for its memory it says by how much that has grown since the first
// connection.
func echo(c *proc.Child) {
	kind, count := c.Args[0], int(c.Number(1))
	l := ownLibrary(c)
	s := &echoer{c: c}
	if kind == conns {
		go s.acceptConns(l, count)
	} else {
		go s.acceptSockets(l, typeOf(kind), count)
	}
	for {
		if c.Hear() == "memory" {
			c.Say("memory %d", int64(memory()-s.first))
		}
	}
}

type echoer struct {
	c     *proc.Child
	first uint64 // memory with one connection
}

// taken notes a connection.
func (s *echoer) taken(i, count int) {
	if i == 0 {
		s.first = memory()
		s.c.Say("first")
	}
	if i == count-1 {
		s.c.Say("all")
	}
}

func (s *echoer) acceptConns(l *exs.Library, count int) {
	ln, err := l.Listen("exs", "127.0.0.1:0")
	if err != nil {
		s.c.Fail(err)
	}
	s.c.Say("at %v", ln.Addr())
	for i := range count {
		conn, err := ln.Accept()
		if err != nil {
			s.c.Fail(err)
		}
		go echoConn(conn)
		s.taken(i, count)
	}
}

func echoConn(conn net.Conn) {
	var b [messageSize]byte
	for {
		if _, err := io.ReadFull(conn, b[:]); err != nil {
			_ = conn.Close()
			return
		}
		if _, err := conn.Write(b[:]); err != nil {
			return
		}
	}
}

func (s *echoer) acceptSockets(l *exs.Library, typ, count int) {
	post, err := l.Socket(exs.Inet, typ, 0)
	if err == nil {
		err = post.Bind(netip.MustParseAddrPort("127.0.0.1:0"))
	}
	if err == nil {
		err = post.Listen(16)
	}
	if err != nil {
		s.c.Fail(err)
	}
	addr, _ := post.SockName()
	q, err := l.Queue(count)
	if err != nil {
		s.c.Fail(err)
	}
	s.c.Say("at %v", addr)
	for i := range count {
		socket, _, err := post.BlockingAccept()
		if err == nil {
			err = receive(socket, q, new([messageSize]byte))
		}
		if err != nil {
			s.c.Fail(err)
		}
		if i == 0 {
			go s.serve(q)
		}
		s.taken(i, count)
	}
}

func receive(s *exs.Socket, q *exs.Queue, b *[messageSize]byte) error {
	_, err := s.Recv(b[:], exs.WaitAll, q, b, exs.Unregistered)
	return err
}

// serve sends back what comes over all sockets.
func (s *echoer) serve(q *exs.Queue) {
	events := make([]exs.Event, 16)
	for {
		n, err := q.Dequeue(events, exs.Infinite)
		if err != nil {
			s.c.Fail(err)
		}
		for i := range events[:n] {
			e := &events[i]
			if e.Errno != 0 || e.Length != messageSize {
				continue // the peer has closed it, or is gone
			}
			_, err := e.Socket.BlockingSend(e.Buffer, 0, exs.Unregistered)
			if err == nil {
				err = receive(e.Socket, q, e.AHandle.(*[messageSize]byte))
			}
			if err != nil {
				s.c.Fail(fmt.Errorf("socket %d: %w", e.Socket.FD(), err))
			}
		}
	}
}
