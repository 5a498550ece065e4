package exs

import (
	"io"
	"time"

	"gomx/mx"
)

// Send starts to send b (5.1). On a SeqPacket socket it is one packet. An event of
// type EvtSend says when b can be used again; with Block the call waits for that, and
// returns how many bytes were sent. m is the registration of b, or Unregistered.
//
// Errors: EBUSY without a credit, unless there is CreditWait or Block; EPIPE if the
// connection is shut down for sending, ECONNRESET if it was torn down, ENOTCONN, EBADF,
// EFAULT if b is not within m, EMSGSIZE, EINVAL for a queue or flag that makes no sense.
// A peer that stops receiving, or dies, gives events with EPIPE and ECONNRESET.
//
// With Persistent the peer's receives read from b, without further calls on this side, until the operation is cancelled or the
// connection ends. Its event comes only then. With Notify there is an event of type EvtRead for each such receive. Errors besides: EBUSY if there is a
// persistent send already, which also holds for ordinary sends; EOPNOTSUPP on a stream; EINVAL for no bytes, Block, or Notify
// without a queue.
func (s *Socket) Send(b []byte, flags Flags, q *Queue, ahandle any, m *Memory) (int, error) {
	return s.send(EvtSend, b, nil, nowhere, flags, q, ahandle, m)
}

// SendMsg is Send of pieces of memory, one after the other. Neither the pieces nor the list may change until the operation has ended.
// More than mx.MaxSegments pieces are EMSGSIZE.
func (s *Socket) SendMsg(iov [][]byte, flags Flags, q *Queue, ahandle any, m *Memory) (int, error) {
	return s.send(EvtSendMsg, nil, pieces(iov), nowhere, flags, q, ahandle, m)
}

// Recv starts to receive into b (5.2). An event of type EvtRecv says when something
// is there: a packet, of which AmountLost bytes had no room; or bytes of a stream, with
// WaitAll as many as b holds. A length of 0 without an error means the end of the connection. With
// Peek the data stays for the next receive, which gets the same data, even if both were started before it arrived. A Peek with WaitAll waits for no more bytes
// than the buffer of the stream holds (SetStreamBufSize). With Block the call waits, and returns the
// length. m is the registration of b, or Unregistered.
//
// Errors: EBUSY without a credit, unless there is CreditWait or Block; ECONNRESET if the
// connection was torn down, ENOTCONN, EBADF, EFAULT if b is not within m, EACCES if m
// is for sending only, EMSGSIZE, EINVAL for a queue or flag that makes no sense,
// EOPNOTSUPP for a Peek at a stream without buffer.
//
// With InPlace a small packet stays where the library has it: the event says where, and
// RecycleRcvBuffer gives the place back. EINVAL with Block, Unsignaled or Peek, EOPNOTSUPP on a
// stream. With Persistent the peer's sends write into b, until the operation is cancelled or
// the connection ends. The rules are those of a persistent Send, and the events are of type EvtWritten.
func (s *Socket) Recv(b []byte, flags Flags, q *Queue, ahandle any, m *Memory) (int, error) {
	n, _, err := s.recv(EvtRecv, b, nil, nowhere, flags, q, ahandle, m)
	return n, err
}

// RecvMsg is Recv into pieces of memory, one after the other.
func (s *Socket) RecvMsg(iov [][]byte, flags Flags, q *Queue, ahandle any, m *Memory) (int, error) {
	n, _, err := s.recv(EvtRecvMsg, nil, pieces(iov), nowhere, flags, q, ahandle, m)
	return n, err
}

func pieces(iov [][]byte) [][]byte {
	if iov == nil {
		return [][]byte{}
	}
	return iov
}

const (
	sendFlags = Block | CreditWait | Unsignaled | DontWait
	recvFlags = sendFlags | WaitAll | Peek
)

func (s *Socket) send(kind EventType, b []byte, iov [][]byte, at int, flags Flags, q *Queue, ahandle any, m *Memory) (int, error) {
	if s.none() {
		return 0, s.fail("send", EBADF)
	}
	s.mu.Lock()
	n := s.life.CanSend()
	if n == 0 && s.sending >= s.options.credits {
		n = s.credit(flags, true)
	}
	special := at != nowhere || flags&^sendFlags != 0 || s.special != nil
	if n == 0 && special {
		n = s.maySend(b, flags, at, q)
	}
	if n == 0 && iov == nil && s.sendNow(b, at, special, flags, q, ahandle, m) {
		if flags&Block == 0 {
			return 0, nil
		}
		return len(b), nil
	}
	var o *op
	if n == 0 {
		o, n = s.launchSend(kind, b, iov, at, special, flags, q, ahandle, m)
	}
	if n != 0 {
		s.mu.Unlock()
		return 0, s.unsuited("send", n, flags, q, m)
	}
	length, _, err := s.started("send", o, flags)
	return length, err
}

// launchSend starts a send that has passed the checks. The lock is held.
func (s *Socket) launchSend(kind EventType, b []byte, iov [][]byte, at int, special bool, flags Flags, q *Queue, ahandle any, m *Memory) (*op, Errno) {
	o, n := s.start(kind, b, iov, flags, q, ahandle, m)
	if n != 0 {
		return nil, n
	}
	s.sending++
	switch {
	case special && s.sendSpecial(o, at):
	case len(s.files) > 0:
		s.files = append(s.files, &fileSend{s: s, o: o})
	default:
		s.dispatchSend(o)
	}
	return o, 0
}

// recv implements all receives. over says that no data has arrived and none will, which distinguishes the end from an empty packet.
func (s *Socket) recv(kind EventType, b []byte, iov [][]byte, at int, flags Flags, q *Queue, ahandle any, m *Memory) (length int, over bool, err error) {
	if s.none() {
		return 0, false, s.fail("recv", EBADF)
	}
	s.mu.Lock()
	n := s.canReceive()
	if n == 0 && s.receiving >= s.options.credits {
		n = s.credit(flags, false)
	}
	special := at != nowhere || flags&^recvFlags != 0 || s.special != nil
	if n == 0 && special {
		n = s.mayReceive(b, flags, at, q)
	}
	if n == 0 && flags&Peek != 0 && s.withoutBuffer() {
		n = EOPNOTSUPP
	}
	var o *op
	if n == 0 {
		o, n = s.launchRecv(kind, b, iov, at, special, flags, q, ahandle, m)
	}
	if n != 0 {
		s.mu.Unlock()
		return 0, false, s.unsuited("recv", n, flags, q, m)
	}
	return s.started("recv", o, flags)
}

// launchRecv starts a receive that has passed the checks. The lock is held.
func (s *Socket) launchRecv(kind EventType, b []byte, iov [][]byte, at int, special bool, flags Flags, q *Queue, ahandle any, m *Memory) (*op, Errno) {
	o, n := s.start(kind, b, iov, flags, q, ahandle, m)
	if n != 0 {
		return nil, n
	}
	s.receiving++
	switch {
	case special && s.recvSpecial(o, at):
	case s.stream != nil:
		s.receiveBytes(o)
	default:
		s.receivePacket(o)
	}
	return o, 0
}

// start makes the operation of a transfer, after the checks.
func (s *Socket) start(kind EventType, b []byte, iov [][]byte, flags Flags, q *Queue, ahandle any, m *Memory) (*op, Errno) {
	o, n := s.begin(kind, flags, q, ahandle)
	if n != 0 {
		return nil, n
	}
	o.buf, o.iov = b, iov
	if len(iov) > mx.MaxSegments || uint64(o.size()) > mx.MaxMessage {
		n = EMSGSIZE
	} else if m != nil {
		n = m.use(o)
	}
	if n != 0 {
		s.refuse(o)
		return nil, n
	}
	o.mem = m
	return o, 0
}

// started ends the call: at once, or with Block at the end of the operation.
func (s *Socket) started(op string, o *op, flags Flags) (length int, over bool, err error) {
	if len(s.ending) > 0 {
		s.settle()
	}
	s.mu.Unlock()
	if flags&Block == 0 {
		return 0, false, nil
	}
	if !s.waitFor(o, o) {
		return 0, false, s.fail(op, ECANCELED)
	}
	over = o.ended
	length, _, n := s.collect(o)
	if n == 0 {
		return length, over, nil
	}
	return length, over, s.refused(op, n)
}

// credit obtains a credit: from operations that have completed, or by waiting. The lock is released meanwhile.
func (s *Socket) credit(flags Flags, sends bool) Errno {
	timeout := time.Duration(0)
	if flags&(CreditWait|Block) != 0 {
		timeout = Infinite
	}
	c := &credit{s, sends}
	for {
		s.mu.Unlock()
		there := s.l.waitIn(&s.list, c, timeout)
		s.mu.Lock()
		switch n := c.refused(); {
		case n != 0:
			return n
		case c.free():
			return 0
		case !there:
			return EBUSY
		}
	}
}

// credit is the condition of a wait for a credit.
type credit struct {
	s     *Socket
	sends bool
}

func (c *credit) free() bool {
	if c.sends {
		return c.s.sending < c.s.options.credits
	}
	return c.s.receiving < c.s.options.credits
}

func (c *credit) ready() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.free() || c.refused() != 0
}

// refused returns why waiting for a credit is in vain, or 0.
func (c *credit) refused() Errno {
	if c.sends {
		return c.s.life.CanSend()
	}
	return c.s.canReceive()
}

// BlockingSend sends and waits until b can be used again (9.1).
func (s *Socket) BlockingSend(b []byte, flags Flags, m *Memory) (int, error) {
	return s.Send(b, flags|Block, nil, nil, m)
}

// BlockingRecv receives, and waits until data has arrived (9.2). A length of 0 without an error means the end of the connection.
func (s *Socket) BlockingRecv(b []byte, flags Flags, m *Memory) (int, error) {
	return s.Recv(b, flags|Block, nil, nil, m)
}

// Write is BlockingSend of memory that is not registered (9.1).
func (s *Socket) Write(b []byte) (int, error) { return s.Send(b, Block, nil, nil, Unregistered) }

// Read is BlockingRecv into memory that is not registered (9.2). As Go wants it, the
// end of the connection is io.EOF.
func (s *Socket) Read(b []byte) (int, error) {
	n, over, err := s.recv(EvtRecv, b, nil, nowhere, Block, nil, nil, Unregistered)
	if n == 0 && err == nil && (over || s.stream != nil && len(b) > 0) {
		err = io.EOF
	}
	return n, err
}
