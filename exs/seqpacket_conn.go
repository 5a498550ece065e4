package exs

import (
	"io"
	"net"
	"time"

	"gomx/mx"
)

// SeqPacketConn is a connected SeqPacket socket in Go's manner: a net.Conn that keeps messages apart, as that of the network "unixpacket" does. Each Write
// is one packet, and each Read takes one. A Dialer and a Listener of the network "exspacket" make it; calls on a nil or zero SeqPacketConn return EINVAL.
// All methods may be called from any goroutine. Errors are those of a Conn. It has no descriptor either.
type SeqPacketConn struct{ c Conn }

var _ net.Conn = (*SeqPacketConn)(nil)

// netConn makes a net.Conn of a connected socket.
func netConn(s *Socket) net.Conn {
	if s.typ != SeqPacket {
		return newConn(s)
	}
	p := &SeqPacketConn{}
	p.c.init(s)
	return p
}

// conn is what a SeqPacketConn has in common with a Conn.
func (p *SeqPacketConn) conn() *Conn {
	if p == nil {
		return nil
	}
	return &p.c
}

// Read takes the next packet, and waits until there is one. If the packet is longer than b, the rest is lost; ReadPacket says how much that was. A
// packet may be empty: no bytes and no error. The end of the connection is io.EOF. A Read with an empty b takes nothing.
func (p *SeqPacketConn) Read(b []byte) (int, error) {
	n, _, err := p.ReadPacket(b)
	return n, err
}

// ReadPacket is Read, and also returns how many bytes of the packet had no room in b.
func (p *SeqPacketConn) ReadPacket(b []byte) (n, lost int, err error) {
	c := p.conn()
	if c.none() {
		return 0, 0, absentNet("read", noConn)
	}
	c.in.turn.Lock()
	n, lost, err = c.readPacket(b)
	c.in.turn.Unlock()
	return n, lost, err
}

// Write sends b as one packet, of mx.MaxMessage bytes at most. b is not read after it has returned. A packet of a few KiB goes out at once,
// up to the credits of the connection ahead of the peer's Reads (SetFlowControlCredits), of which up to half may not have come back yet. A larger packet waits until the peer reads it, unless
// both sockets are of one library, which copies it at once. If a Write returns an error because its deadline has passed, it has sent
// nothing; a packet that is on its way by then is delivered, and counts as written. After four large ones that were given up and that are
// not gone yet, a Write waits, however small its packet is.
func (p *SeqPacketConn) Write(b []byte) (int, error) {
	c := p.conn()
	if c.none() {
		return 0, absentNet("write", noConn)
	}
	c.out.turn.Lock()
	n, err := c.writePacket(b)
	c.out.turn.Unlock()
	return n, err
}

// Close closes the connection, as that of a Conn does. If the peer knows of the packet of a Write that waits, the packet goes on from a
// copy, and the Write returns no error; the peer may still read the packet. Other Writes that wait end with net.ErrClosed, and have sent nothing.
func (p *SeqPacketConn) Close() error { return p.conn().Close() }

// CloseRead ends the direction towards us: Read returns io.EOF, and the peer's Writes fail with EPIPE.
func (p *SeqPacketConn) CloseRead() error { return p.conn().CloseRead() }

// CloseWrite ends the direction towards the peer, behind what was written. The peer reads that, then io.EOF.
func (p *SeqPacketConn) CloseWrite() error { return p.conn().CloseWrite() }

// SetDeadline sets both deadlines, as that of a Conn does.
func (p *SeqPacketConn) SetDeadline(t time.Time) error { return p.conn().SetDeadline(t) }

// SetReadDeadline sets the deadline of Read.
func (p *SeqPacketConn) SetReadDeadline(t time.Time) error { return p.conn().SetReadDeadline(t) }

// SetWriteDeadline sets the deadline of Write.
func (p *SeqPacketConn) SetWriteDeadline(t time.Time) error { return p.conn().SetWriteDeadline(t) }

// LocalAddr returns the address of this side, a SeqPacketAddr.
func (p *SeqPacketConn) LocalAddr() net.Addr { return p.conn().LocalAddr() }

// RemoteAddr returns the address of the other side, a SeqPacketAddr.
func (p *SeqPacketConn) RemoteAddr() net.Addr { return p.conn().RemoteAddr() }

// Socket returns the socket behind p, as that of a Conn does.
func (p *SeqPacketConn) Socket() *Socket { return p.conn().Socket() }

// readPacket is ReadPacket for the goroutine whose turn it is.
func (c *Conn) readPacket(b []byte) (n, lost int, err error) {
	for {
		switch err := c.in.stopped(); {
		case len(b) == 0 && !c.closed.Load():
			return 0, 0, nil
		case err != nil:
			return 0, 0, c.fault("read", err)
		}
		o := c.late
		if o == nil {
			var errno Errno
			if o, errno = c.s.beginRead(b[:min(uint64(len(b)), mx.MaxMessage)]); errno != 0 {
				return 0, 0, c.fault("read", errno)
			}
		}
		if !c.in.await(o) {
			if o != c.late && !c.s.giveUp(o) {
				c.late = o // a packet is on its way into it
			}
			if o == c.late {
				continue
			}
		}
		mem, late := o.buf, o == c.late
		c.late = nil
		length, lost, over, errno := c.s.collectPacket(o)
		switch {
		case errno == ECANCELED: // it was given up, or the next receive returns the reason
			continue
		case errno != 0:
			return 0, 0, c.fault("read", errno)
		case over && c.closed.Load():
			return 0, 0, c.fault("read", net.ErrClosed)
		case over:
			return 0, 0, io.EOF
		case late:
			n := copy(b, mem[:length])
			return n, lost + length - n, nil
		}
		return length, lost, nil
	}
}

// collectPacket returns how a blocking receive of a packet has ended. over says that no packet has arrived, and none will.
func (s *Socket) collectPacket(o *op) (length, lost int, over bool, n Errno) {
	s.mu.Lock()
	length, lost, over, n = o.length, o.lost, o.ended, o.errno
	s.recycle(o)
	s.mu.Unlock()
	return length, lost, over, n
}

// writePacket is Write for the goroutine whose turn it is.
func (c *Conn) writePacket(b []byte) (int, error) {
	for {
		if err := c.out.stopped(); err != nil {
			return 0, c.fault("write", err)
		}
		if !c.reap() {
			continue
		}
		o, n := c.s.beginPacket(b)
		switch {
		case n == EMSGSIZE:
			return 0, c.fault("write", tell(tooLong, n))
		case n != 0:
			return 0, c.fault("write", n)
		}
		length, n, left := c.out.end(o)
		switch {
		case left:
			c.staged.push(onItsWay{o: o})
			return len(b), nil
		case n == 0:
			return length, nil
		case n != ECANCELED:
			return 0, c.fault("write", n)
		}
	}
}

// beginPacket starts a send of a packet; the caller waits for its end.
func (s *Socket) beginPacket(b []byte) (*op, Errno) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.life.CanSend(); n != 0 {
		return nil, n
	}
	return s.launchSend(EvtSend, b, nil, nowhere, false, Block, nil, nil, Unregistered)
}
