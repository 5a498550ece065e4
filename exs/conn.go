package exs

import (
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is a connected stream socket in Go's manner: a net.Conn. Dial and Accept make one; calls on a nil or zero Conn return EINVAL. All methods may be
// called from any goroutine; each Write goes out in one piece. Errors are of type
// *net.OpError and match their number as others of this package do, or
// os.ErrDeadlineExceeded, or net.ErrClosed. It has no descriptor, and so neither SyscallConn nor File.
type Conn struct {
	s       *Socket
	closed  atomic.Bool
	in, out half
	staged  staged
	ended   atomic.Bool // Read has returned the end of the stream
	refused bool        // the peer takes nothing any more, as Write has said
	late    *op         // a receive that was given up, and goes on
	rest    []byte      // data that such a receive has brought

	closedWrite bool // CloseWrite was called
	lastSaid    bool // a Write has succeeded that the peer, which has closed, does not get
}

var _ net.Conn = (*Conn)(nil)

// newConn makes a Conn of a connected stream socket.
func newConn(s *Socket) *Conn {
	c := &Conn{}
	c.init(s)
	return c
}

func (c *Conn) init(s *Socket) {
	c.s = s
	for _, h := range []*half{&c.in, &c.out} {
		h.c, h.deadline.tell = c, h.interrupt
	}
}

// half is one direction of a Conn.
type half struct {
	c        *Conn
	turn     sync.Mutex // one operation at a time
	deadline deadline
	o        *op                // the operation that the goroutine whose turn it is waits for
	waiting  atomic.Pointer[op] // the same, for goroutines that wake it
}

func (h *half) ready() bool { return h.o.ready() || h.deadline.passed.Load() || h.c.closed.Load() }

// interrupt makes the goroutine that waits check the deadline and whether the Conn is closed.
func (h *half) interrupt() {
	if o := h.waiting.Load(); o != nil {
		o.wake()
	}
}

// stopped returns why nothing can be done in this direction.
func (h *half) stopped() error {
	switch {
	case h.c.closed.Load():
		return net.ErrClosed
	case h.deadline.passed.Load():
		return h.c.s.l.late()
	}
	return nil
}

// await waits for an operation until it ends or there is a reason to stop.
func (h *half) await(o *op) bool {
	if o.ready() {
		return true
	}
	h.o = o
	h.waiting.Store(o)
	h.c.s.waitFor(o, h)
	h.waiting.Store(nil)
	return o.ready()
}

// end waits for an operation until it ends, or gives it up if there is a reason to stop. It returns how the operation ended; left
// says that it has been given up and goes on.
func (h *half) end(o *op) (length int, n Errno, left bool) {
	s := h.c.s
	if !h.await(o) && !s.giveUp(o) {
		return o.gone, ECANCELED, true
	}
	length, _, n = s.await(o)
	return length, n, false
}

// Read reads the data that has arrived, up to len(b) bytes, and waits if there is none. At the end of the stream it returns io.EOF.
func (c *Conn) Read(b []byte) (int, error) {
	if c.none() {
		return 0, absentNet("read", noConn)
	}
	c.in.turn.Lock()
	n, err := c.read(b)
	c.in.turn.Unlock()
	c.yield()
	return n, err
}

// yield lets writers of this process go on whose bytes were taken, before the reader does. Otherwise the answer may be there before
// the write returns, which programs do not expect, since over TCP a write does not wait for the reader.
func (c *Conn) yield() {
	if c.s.l.letGo.Load() && c.s.l.letGo.Swap(false) {
		runtime.Gosched()
	}
}

func (c *Conn) read(b []byte) (int, error) {
	for {
		switch err := c.in.stopped(); {
		case len(b) == 0 && !c.closed.Load():
			return 0, nil
		case err != nil:
			return 0, c.fault("read", err)
		}
		if c.late != nil && !c.takeLate() {
			continue
		}
		if len(c.rest) > 0 {
			n := copy(b, c.rest)
			c.rest = c.rest[n:]
			return n, nil
		}
		o, n := c.s.beginRead(b[:min(len(b), mostAtOnce)])
		if n != 0 {
			return 0, c.fault("read", n)
		}
		length, n, left := c.in.end(o)
		if left {
			c.late = o
		}
		switch {
		case length > 0:
			return length, nil
		case n == 0 && c.closed.Load():
			return 0, c.fault("read", net.ErrClosed)
		case n == 0:
			c.ended.Store(true)
			return 0, io.EOF
		case n != ECANCELED:
			return 0, c.fault("read", n)
		}
	}
}

// takeLate waits for a receive that was given up, and keeps the data that it has brought. It returns false if there is a reason to
// stop.
func (c *Conn) takeLate() bool {
	if !c.in.await(c.late) {
		return false
	}
	mem := c.late.buf
	length, _, _ := c.s.collect(c.late) // the next receive reports why it failed
	c.late, c.rest = nil, mem[:length]
	return true
}

// Write writes all of b. If it fails, it returns how many bytes the peer will receive. b is not read after Write has returned.
// Short writes are copied and sent without waiting, as over TCP, while the peer's process runs: towards one that is stopped they wait once
// what connects the two processes is full, after some KiB of all of their connections together. If that fails, a later call returns the error. As over TCP, too, the
// first short one after the peer has closed succeeds, and nobody gets it, unless a Read waits or a Write has failed.
func (c *Conn) Write(b []byte) (int, error) {
	if c.none() {
		return 0, absentNet("write", noConn)
	}
	c.out.turn.Lock()
	n, err := c.write(b)
	c.out.turn.Unlock()
	return n, err
}

func (c *Conn) write(b []byte) (sent int, err error) {
	for {
		if err := c.out.stopped(); err != nil {
			return sent, c.fault("write", err)
		}
		if len(b) == 0 {
			if n := c.s.canSend(); n != 0 {
				return 0, c.fault("write", n)
			}
			return 0, nil
		}
		var length int
		var n Errno
		if part := b[sent:min(len(b), sent+mostAtOnce)]; len(part) <= stageSize {
			length, n = c.writeShort(part)
		} else {
			length, n = c.writeLong(part)
		}
		sent += length
		switch {
		case sent == len(b):
			return sent, nil
		case n == EPIPE && sent == 0 && len(b) <= stageSize && c.lastWord():
			return len(b), nil
		case n != 0 && n != ECANCELED:
			if n == EPIPE {
				c.lastSaid = true // the error has told of the end already
				c.letRead()
			}
			return sent, c.fault("write", n)
		}
	}
}

func (c *Conn) writeLong(b []byte) (int, Errno) {
	if !c.reap() {
		return 0, ECANCELED
	}
	o, _, n := c.s.beginWrite(b)
	if n != 0 {
		return 0, n
	}
	length, n, left := c.out.end(o)
	if left {
		c.staged.push(onItsWay{o: o})
	}
	return length, n
}

// Close closes the connection. Reads and Writes that wait end with net.ErrClosed, and
// the peer gets what was written before, even if the process ends after Close: Close waits until the peer's library has it, for
// at most a second. After that the close goes on in another goroutine; what a peer that is stopped has not taken when the
// process ends is lost. Error: net.ErrClosed the second time.
func (c *Conn) Close() error {
	if c.none() {
		return absentNet("close", noConn)
	}
	if !c.closed.CompareAndSwap(false, true) {
		return c.fault("close", net.ErrClosed)
	}
	for _, h := range []*half{&c.in, &c.out} {
		h.deadline.stop()
		h.interrupt()
	}
	q, err := c.s.l.Queue(1)
	if err == nil {
		err = c.s.Close(0, q, nil)
	}
	if err != nil {
		if errors.Is(err, EBADF) || errors.Is(err, ENETDOWN) {
			return nil // it was closed with its library
		}
		return c.fault("close", err)
	}
	last := make([]Event, 1)
	if n, err := q.Dequeue(last, lingerTime); n == 0 && err == nil {
		go func() { _, _ = q.Dequeue(last, Infinite) }()
	}
	c.s.l.keepProgress()
	return nil
}

// CloseRead ends the direction towards us: Read returns io.EOF, and the peer's writes
// fail with EPIPE.
func (c *Conn) CloseRead() error { return c.shut(ShutRD) }

// CloseWrite ends the direction towards the peer, behind what was written. The peer
// reads that, then io.EOF. CloseWrite waits for a Write that is under way, and for nothing else. Only Close makes sure that
// everything arrives even if the process ends afterwards.
func (c *Conn) CloseWrite() error {
	if c.none() {
		return absentNet("close", noConn)
	}
	c.out.turn.Lock()
	defer c.out.turn.Unlock()
	c.closedWrite = true
	return c.shut(ShutWR)
}

func (c *Conn) shut(how How) error {
	if c.none() {
		return absentNet("close", noConn)
	}
	if c.closed.Load() {
		return c.fault("close", net.ErrClosed)
	}
	if err := c.s.shutdown(how, Unsignaled, nil, nil); err != nil && !errors.Is(err, EBUSY) { // one is under way
		return c.fault("close", err)
	}
	return nil
}

// SetDeadline sets both deadlines. The zero time means none. A deadline that passes ends
// calls that wait, and later ones, with os.ErrDeadlineExceeded, until it is moved.
// Error: net.ErrClosed.
func (c *Conn) SetDeadline(t time.Time) error { return c.setDeadlines(t, true, true) }

// SetReadDeadline sets the deadline of Read.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(t, true, false) }

// SetWriteDeadline sets the deadline of Write. A Write that ends with it may have
// written a part, which its length says; its memory is free.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, false, true) }

func (c *Conn) setDeadlines(t time.Time, in, out bool) error {
	if c.none() {
		return absentNet("set deadline", noConn)
	}
	if c.closed.Load() || c.s.l.isClosed() {
		return c.fault("set deadline", net.ErrClosed)
	}
	if in {
		c.in.deadline.set(t)
	}
	if out {
		c.out.deadline.set(t)
	}
	return nil
}

// LocalAddr returns the address of this side, an Addr.
func (c *Conn) LocalAddr() net.Addr {
	if c.none() {
		return nil
	}
	return addrFor(c.s.typ, c.s.local)
}

// RemoteAddr returns the address of the other side, an Addr.
func (c *Conn) RemoteAddr() net.Addr {
	if c.none() {
		return nil
	}
	return addrFor(c.s.typ, c.s.remote)
}

// Socket returns the socket behind c, for its options and its own calls. These must
// not be mixed with Read and Write in one direction at the same time. What was on its way into a Read that its deadline has ended
// comes to the next Reads alone, all of it: receives of the socket go on behind it.
func (c *Conn) Socket() *Socket {
	if c.none() {
		return nil
	}
	return c.s
}

// fault makes the error that a call returns.
func (c *Conn) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: c.s.network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: gone(err)}
}

// gone is net.ErrClosed for a socket that was closed with its library.
func gone(err error) error {
	if errors.Is(err, EBADF) {
		return net.ErrClosed
	}
	return err
}
