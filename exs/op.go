package exs

import (
	"net/netip"
	"slices"
	"sync/atomic"

	"gomx/mx"
)

// op is an operation that has started. It belongs to its socket, is guarded by the socket's lock, and is reused.
type op struct {
	next    *op // next in the list of the socket's spare operations
	s       *Socket
	q       *Queue
	mem     *Memory
	ahandle any
	buf     []byte
	iov     [][]byte
	req     mx.Request   // of packets
	under   []mx.Request // of streams: its messages that have not left the buffer
	gone    int          // of streams: bytes that have become messages
	kind    EventType
	flags   Flags
	id      uint32 // of streams: its place in the socket's table
	seq     uint32 // of packets
	behind  uint32 // of sends to persistent memory: how many packets were sent before
	errno   Errno
	length  int
	lost    int
	extra   *extra
	live    bool // has started and not ended
	spins   bool // the goroutine that waits for it does not sleep
	ended   bool // a receive of packets for which no packet will arrive
	placed  bool // a send or receive with offset
	fetched bool // a synchronous send of a packet
	access  bool // it goes to persistent memory of the peer's
	inPlace bool // a receive whose buffer is the library's
	offset  int

	done   atomic.Bool // of blocking ones
	waiter *mx.Waiter  // where the caller of a blocking one waits
}

// extra holds fields that few operations need.
type extra struct {
	socket *Socket
	addr   netip.AddrPort
	to     *netip.AddrPort
	how    How
	cause  error
}

func (o *op) ready() bool { return o.done.Load() }

func (o *op) receives() bool { return o.kind == EvtRecv || o.kind == EvtRecvMsg }
func (o *op) sends() bool    { return o.kind == EvtSend || o.kind == EvtSendMsg || o.kind == EvtSendFile }

// size is the length of the buffer.
func (o *op) size() int {
	n := len(o.buf)
	for _, b := range o.iov {
		n += len(b)
	}
	return n
}

// report makes the event.
func (o *op) report(e *Event) {
	e.Errno, e.Socket, e.AHandle, e.Type = o.errno, o.s, o.ahandle, o.kind
	e.Buffer, e.Memory, e.AmountLost, e.Length = o.buf, o.mem, o.lost, o.length
	e.Offset, e.InPlace, e.notice = o.offset, o.inPlace, notice{}
	e.NewSocket, e.Addr = nil, netip.AddrPort{}
	if o.extra != nil {
		e.NewSocket, e.Addr = o.extra.socket, o.extra.addr
	}
}

// begin takes an operation from the spare ones, or makes one. The lock is held.
func (s *Socket) begin(kind EventType, flags Flags, q *Queue, ahandle any) (*op, Errno) {
	if flags&Block != 0 {
		q, ahandle = nil, nil
	}
	if q == nil && flags&(Block|Unsignaled) == 0 || q != nil && (q.l != s.l || !q.begin()) {
		return nil, EINVAL
	}
	o := s.spare
	if o == nil {
		o = &op{s: s, id: uint32(len(s.ops))}
		s.ops = append(s.ops, o)
	} else {
		s.spare = o.next
		o.next = nil
	}
	o.kind, o.flags, o.q, o.ahandle = kind, flags, q, ahandle
	if o.waiter == nil && flags&Block != 0 {
		if ep := s.l.ep.Load(); ep != nil { // without an endpoint no part of the operation can take time
			o.waiter = ep.NewWaiter()
		}
	}
	o.live, o.spins = true, s.options.fd&FDBusyPoll != 0
	s.outstanding++
	return o, 0
}

// refuse undoes begin: the operation does not start.
func (s *Socket) refuse(o *op) {
	o.live = false
	s.outstanding--
	if o.q != nil {
		o.q.end()
	}
	s.recycle(o)
}

// finish ends an operation. The lock is held.
func (s *Socket) finish(o *op, n Errno) {
	o.errno, o.live = n, false
	s.outstanding--
	o.mem.release()
	switch {
	case o.sends():
		s.sending--
	case o.receives():
		s.receiving--
	}
	s.list.wake() // a goroutine that waits for a credit may go on
	if o.flags&Block != 0 {
		o.done.Store(true)
		o.wake()
		return // the goroutine that waits for the operation releases it
	}
	switch {
	case o.q == nil:
	case n != 0 || o.flags&Unsignaled == 0:
		o.q.put(o)
	default:
		o.q.end()
	}
	s.recycle(o)
}

// wake makes the caller of a blocking operation check whether it has ended, or must stop waiting.
func (o *op) wake() {
	if o.waiter != nil {
		o.waiter.Wake()
	}
}

func (s *Socket) recycle(o *op) {
	o.q, o.mem, o.ahandle, o.buf, o.iov, o.extra = nil, nil, nil, nil, nil, nil
	o.req, o.errno, o.length, o.lost, o.gone = mx.Request{}, 0, 0, 0, 0
	o.under = o.under[:0]
	o.ended, o.placed, o.fetched, o.access, o.inPlace, o.offset = false, false, false, false, false, 0
	if o.done.Load() {
		o.done.Store(false)
	}
	o.next, s.spare = s.spare, o
}

// await waits for the end of a blocking operation, and returns how it ended.
func (s *Socket) await(o *op) (length int, x *extra, n Errno) {
	if !s.waitFor(o, o) {
		return 0, nil, ECANCELED
	}
	return s.collect(o)
}

// waitFor waits until c is ready: the blocking operation o has ended. It returns false if the library was closed.
func (s *Socket) waitFor(o *op, c condition) bool {
	for o.spins && !c.ready() && s.l.blocked(o.waiter, 0) {
	}
	return c.ready() || s.l.wait(o.waiter, c, Infinite)
}

// collect returns how a blocking operation has ended, and releases it.
func (s *Socket) collect(o *op) (length int, x *extra, n Errno) {
	s.mu.Lock()
	length, x, n = o.length, o.extra, o.errno
	s.recycle(o)
	s.mu.Unlock()
	return length, x, n
}

// deque is a list of operations in order. Usually the first one is the next to be removed.
type deque struct {
	list []*op
	head int
}

func (d *deque) len() int     { return len(d.list) - d.head }
func (d *deque) at(i int) *op { return d.list[d.head+i] }
func (d *deque) push(o *op) {
	if d.head > 0 && len(d.list) == cap(d.list) {
		d.list = d.list[:copy(d.list, d.list[d.head:])]
		d.head = 0
	}
	d.list = append(d.list, o)
}

func (d *deque) pop() *op {
	o := d.at(0)
	d.remove(o)
	return o
}

// holds reports whether an operation is in the list.
func (d *deque) holds(o *op) bool {
	return slices.Contains(d.list[d.head:], o)
}

// remove removes an operation, and reports whether it was in the list.
func (d *deque) remove(o *op) bool {
	for i := d.head; i < len(d.list); i++ {
		if d.list[i] != o {
			continue
		}
		copy(d.list[d.head+1:i+1], d.list[d.head:i])
		d.list[d.head] = nil
		if d.head++; d.head == len(d.list) {
			d.list, d.head = d.list[:0], 0
		}
		return true
	}
	return false
}
