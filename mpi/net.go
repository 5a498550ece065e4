package mpi

import (
	"fmt"

	"gomx/mx"
)

// net is what a collective sends its messages with: they lie in the collective context of the communicator,
// with the number of the collective as their tag, and so match nothing else. Each
// collective that is under way has its own; one goroutine at a time uses it.
type net struct {
	c       *Comm
	op      string
	bits    uint64 // of what is sent
	in      uint64 // of what is received, but for the source
	seq     int
	scratch [][]byte
	used    int
	begun   []begun
}

// net begins a collective: all ranks call it in the same order. The caller gives it back with done.
func (c *Comm) net(op string) *net {
	st := c.state
	var n *net
	st.mu.Lock()
	if last := len(st.nets) - 1; last >= 0 {
		n, st.nets = st.nets[last], st.nets[:last]
	}
	st.mu.Unlock()
	if n == nil {
		n = &net{}
	}
	n.seq = int(st.seq.Add(1) & uint32(tagMask))
	n.c, n.op = c, op
	n.in = bitsOf(st.context, 0) | collective | uint64(n.seq)
	n.bits = c.out | collective | uint64(n.seq)
	return n
}

// scratchKept is how much scratch memory a collective leaves for the next one, in each piece.
const scratchKept = 8 << 20

// done ends the collective.
func (n *net) done() {
	st := n.c.state
	if len(n.begun) > 0 {
		n.abandon()
	}
	for i := range n.used {
		if cap(n.scratch[i]) > scratchKept {
			n.scratch[i] = nil
		}
	}
	n.c, n.used = nil, 0
	st.mu.Lock()
	st.nets = append(st.nets, n)
	st.mu.Unlock()
}

// Rank returns the caller's rank.
func (n *net) Rank() int { return n.c.rank }

// Size returns how many ranks there are.
func (n *net) Size() int { return len(n.c.peers) }

// Send sends b to a rank, and returns when b may be used again.
func (n *net) Send(b []byte, to int) error {
	if p := n.c.peers[to].Load(); p != nil && n.c.seat.ep.SendNow(b, p.addr, n.bits) {
		return nil
	}
	h, err := n.isend(b, to)
	if err != nil {
		return err
	}
	return n.sent(h, to)
}

// Recv receives the next message of a rank into b, which it must fill.
func (n *net) Recv(b []byte, from int) error {
	r, err := n.irecv(b, from)
	if err != nil {
		return err
	}
	return n.received(r, len(b), from)
}

// Sendrecv does both at once.
func (n *net) Sendrecv(send []byte, to int, recv []byte, from int) error {
	in, err := n.irecv(recv, from)
	if err != nil {
		return err
	}
	if p := n.c.peers[to].Load(); p != nil && n.c.seat.ep.SendNow(send, p.addr, n.bits) {
		return n.received(in, len(recv), from)
	}
	out, err := n.isend(send, to)
	if err != nil {
		return err
	}
	if err := n.received(in, len(recv), from); err != nil {
		return err
	}
	return n.sent(out, to)
}

// Scratch returns n bytes, 64-byte aligned, that are good until the collective is done. What
// they hold is undefined.
func (n *net) Scratch(size int) []byte {
	if n.used == len(n.scratch) {
		n.scratch = append(n.scratch, nil)
	}
	at := n.used
	n.used++
	if cap(n.scratch[at]) < size {
		n.scratch[at] = aligned(size)
	}
	return n.scratch[at][:size]
}

func (n *net) isend(b []byte, to int) (mx.Request, error) {
	p, err := n.c.peer(n.op, to, Undefined)
	if err != nil {
		return mx.Request{}, err
	}
	r, err := n.c.seat.ep.Isend(b, p.addr, n.bits, nil)
	if err != nil {
		err = n.c.broken(n.op, to, Undefined, err)
	}
	return r, err
}

func (n *net) irecv(b []byte, from int) (mx.Request, error) {
	p, err := n.c.peer(n.op, from, Undefined)
	if err != nil {
		return mx.Request{}, err
	}
	r, err := n.c.recvFrom(b, p, n.in|uint64(from)<<rankShift, mx.MatchMaskNone)
	if err != nil {
		err = n.c.broken(n.op, from, Undefined, err)
	}
	return r, err
}

func (n *net) sent(r mx.Request, to int) error {
	st, err := n.c.await(r, to)
	if err != nil {
		return n.c.broken(n.op, to, Undefined, err)
	}
	if st.Code != mx.StatusSuccess {
		return n.c.ended(n.op, to, Undefined, &st, 0)
	}
	return nil
}

func (n *net) received(r mx.Request, want, from int) error {
	st, err := n.c.await(r, from)
	if err != nil {
		return n.c.broken(n.op, from, Undefined, err)
	}
	if st.Code == mx.StatusSuccess && int(st.XferLength) == want {
		return nil
	}
	if st.Code == mx.StatusSuccess || st.Code == mx.StatusTruncated {
		return n.c.failWith(n.op, from, Undefined, ErrCount,
			fmt.Errorf("call %d on the communicator: %d bytes were expected of rank %d, it has sent %d: the ranks have called it with other counts, or have called something else",
				n.seq, want, from, st.MsgLength))
	}
	return n.c.ended(n.op, from, Undefined, &st, want)
}
