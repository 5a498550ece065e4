package mpi

import (
	"errors"
	"fmt"
	"slices"

	"gomx/mpi/internal/coll"
	"gomx/mx"
)

// net is the Net of internal/coll: it carries the messages of a collective. They have the collective context of the
// communicator, and the number of the collective as their tag, and so match nothing else. Each pending collective has a
// net of its own, and one goroutine at a time uses it.
type net struct {
	c          *Comm
	op         string
	out        uint64 // of messages that are sent
	in         uint64 // of messages that are received, without the source
	seq        int
	sent       int // messages, and received: they tell how far the collective has come
	received   int
	turn       uint64 // counts the collectives of the communicator; seq is what its tag has of it
	set        *coll.Overrides
	pending    []pendingOp // by Isend and Irecv
	scratch    [][]byte
	used       int                   // of scratch
	bulky      bool                  // a piece of scratch is not to stay
	large      [][]byte              // of the seat's
	missing    map[int]error         // ranks that could not be reached
	left       *leavings             // nil unless something of the collective may come after it
	rest       *rest                 // nil unless it has failed
	background *background           // nil unless the net was that of a nonblocking one
	rounds     bool                  // it has several, and moves nothing of the program's
	traced     traced                // what the trace is to have of it
	choices    [coll.AllKinds]chosen // the latest of each kind
	last       lastStage             // whether the rank leaves behind it
	given      string                // checked: what the program gives the call besides, that must be the same everywhere
}

// pendingOp is a send or receive that is pending.
type pendingOp struct {
	r    mx.Request // zero: a receive that was cancelled
	peer int
	want int // bytes of a receive; -1: a send
}

// net starts a collective, which all ranks must do in the same order. The caller gives the net back with done.
func (c *Comm) net(op string) *net {
	n, turn := c.state.begin()
	if c.state.left.Load() != 0 {
		c.tidy(turn >> 1)
	}
	seq := turn >> 1 & tagMask
	n.sent, n.received, n.rounds, n.last, n.given = 0, 0, false, notLast, ""
	n.c, n.op, n.seq, n.turn, n.set = c, op, int(seq), turn>>1, c.overrides()
	n.in = bitsOf(c.state.context, 0) | collective | seq
	n.out = c.out | collective | seq
	return n
}

// begin returns a net that no other collective uses, and the turn.
func (st *commState) begin() (n *net, turn uint64) {
	if turn := st.turn.Load(); turn&1 == 0 && st.turn.CompareAndSwap(turn, turn+3) {
		return &st.first, turn + 3
	}
	return st.beginBeside()
}

// beginBeside is begin while another collective uses the first net.
func (st *commState) beginBeside() (n *net, turn uint64) {
	turn = st.turn.Add(2)
	return st.spare(), turn
}

// spare returns a net that no other collective uses, and which is not the first.
func (st *commState) spare() (n *net) {
	st.mu.Lock()
	defer st.mu.Unlock()
	last := len(st.nets) - 1
	if last < 0 {
		return &net{}
	}
	n, st.nets = st.nets[last], st.nets[:last]
	return n
}

// giveBack is the opposite of begin.
func (st *commState) giveBack(n *net) {
	if n == &st.first {
		st.turn.Add(^uint64(0))
		return
	}
	st.keepSpare(n)
}

// keepSpare is the opposite of spare.
func (st *commState) keepSpare(n *net) {
	st.mu.Lock()
	st.nets = append(st.nets, n)
	st.mu.Unlock()
}

// done ends the collective, and gives the net back.
func (n *net) done() {
	st := n.c.state
	n.settle()
	st.giveBack(n)
}

// settle ends the collective. Operations that are pending after an error are given up.
func (n *net) settle() {
	if len(n.pending)|len(n.large) != 0 || n.left != nil || n.traced.since != 0 || n.bulky {
		n.tidy()
	}
	n.c, n.rest, n.missing, n.used = nil, nil, nil, 0
}

// tidy is the part of settle that most collectives of few bytes have no need of.
func (n *net) tidy() {
	if len(n.pending) != 0 {
		n.abandon()
	}
	for _, b := range n.large {
		n.c.seat.scratch.give(b)
	}
	clear(n.large)
	n.large = n.large[:0]
	if n.bulky {
		n.scratch, n.bulky = slices.DeleteFunc(n.scratch, func(b []byte) bool { return cap(b) > scratchKept }), false
	}
	if n.left != nil {
		n.c.state.leave(n)
	}
	if n.traced.since != 0 {
		n.trace()
	}
	n.left = nil
}

// several says that the collective has several rounds. A rank that fails in one sends what it would have sent in the next, to which
// others may not come.
func (n *net) several() {
	n.rounds = true
	left := n.leaves()
	left.loose, left.surplus = true, n.in
	n.c.sweep()
}

// nextRound starts another round of a collective that has several, with the same number. Nothing may be pending.
func (n *net) nextRound() { n.sent, n.received, n.used = 0, 0, 0 }

// Rank returns the caller's rank.
func (n *net) Rank() int { return n.c.rank }

// Size returns how many ranks there are.
func (n *net) Size() int { return len(n.c.peers) }

// Send sends b to a rank, and returns when b may be used again.
func (n *net) Send(b []byte, to int) error {
	if n.sendNow(b, to) {
		return nil
	}
	r, err := n.isend(b, to)
	if err != nil {
		return err
	}
	return n.conclude(pendingOp{r, to, -1})
}

// Recv receives the next message of a rank into b, which it must fill.
func (n *net) Recv(b []byte, from int) error {
	p := n.c.peers[from].Load()
	if p == nil {
		r, err := n.irecv(b, from)
		if err != nil {
			return err
		}
		return n.conclude(pendingOp{r, from, len(b)})
	}
	n.received++
	got, r, err := n.c.seat.ep.RecvNow(b, p.addr, n.in|uint64(from)<<rankShift, mx.MatchMaskNone)
	if err == nil && r.IsZero() && got == len(b) {
		return nil
	}
	return n.recvLater(got, pendingOp{r, from, len(b)}, err)
}

// recvLater is the rest of a receive that is not complete at once, or has failed.
func (n *net) recvLater(got int, b pendingOp, err error) error {
	failed, ended := errors.AsType[*mx.StatusError](err)
	switch {
	case b.r.IsZero() && err == nil:
		return n.failed(b, &mx.Status{MsgLength: uint32(got)})
	case ended:
		return n.failed(b, &failed.Status)
	case err != nil:
		return n.c.broken(n.op, b.peer, Undefined, err)
	}
	return n.conclude(b)
}

// Sendrecv sends and receives at the same time. An eager message is sent first, and the receive is posted while it
// travels.
func (n *net) Sendrecv(send []byte, to int, recv []byte, from int) error {
	if n.sendNow(send, to) {
		return n.Recv(recv, from)
	}
	in, err := n.irecv(recv, from)
	if err != nil {
		return err
	}
	first := len(n.pending)
	n.pending = append(n.pending, pendingOp{in, from, len(recv)})
	if err := n.Isend(send, to); err != nil {
		return err
	}
	return n.waitFrom(first)
}

// Isend starts to send b, which must not be written before WaitAll has returned.
func (n *net) Isend(b []byte, to int) error {
	if n.sendNow(b, to) {
		return nil
	}
	r, err := n.isend(b, to)
	if err == nil {
		n.pending = append(n.pending, pendingOp{r, to, -1})
	}
	return err
}

// Irecv starts to receive the next message of a rank into b. It is complete when WaitAll has returned.
func (n *net) Irecv(b []byte, from int) error {
	r, err := n.irecv(b, from)
	if err == nil {
		n.pending = append(n.pending, pendingOp{r, from, len(b)})
	}
	return err
}

// WaitAll waits for all that Isend and Irecv have started.
func (n *net) WaitAll() error { return n.waitFrom(0) }

// waitFrom waits for the pending operations from an index on.
func (n *net) waitFrom(first int) error {
	for i := first; i < len(n.pending); i++ {
		b := n.pending[i]
		n.pending[i] = pendingOp{} // if it fails, it is over for all that
		if err := n.conclude(b); err != nil {
			n.pending = append(n.pending[:first], n.pending[i+1:]...)
			return err
		}
	}
	n.pending = n.pending[:first]
	return nil
}

// Scratch returns n bytes, aligned to a cache line, that are good until the collective is
// done. What they hold is undefined.
func (n *net) Scratch(size int) []byte {
	if size >= largeScratch && n.c.seat.job.launch != nil {
		b := n.c.seat.scratch.take(n.c.seat.ep, size)
		n.large = append(n.large, b)
		return b[:size]
	}
	if n.used == len(n.scratch) {
		n.scratch = append(n.scratch, nil)
	}
	at := n.used
	n.used++
	if cap(n.scratch[at]) < size {
		n.scratch[at] = aligned(size)
		n.bulky = n.bulky || cap(n.scratch[at]) > scratchKept
	}
	return n.scratch[at][:size]
}

func (n *net) sendNow(b []byte, to int) bool {
	p := n.c.peers[to].Load()
	if p == nil || !n.c.seat.ep.SendNow(b, p.addr, n.out) {
		return false
	}
	n.sent++
	return true
}

func (n *net) isend(b []byte, to int) (mx.Request, error) {
	if gone := n.missing[to]; gone != nil {
		return mx.Request{}, gone
	}
	p, err := n.c.peer(n.op, to, Undefined)
	if err != nil {
		return mx.Request{}, err
	}
	r, err := n.c.seat.ep.Isend(b, p.addr, n.out, nil)
	if err != nil {
		return r, n.c.broken(n.op, to, Undefined, err)
	}
	n.sent++
	return r, nil
}

func (n *net) irecv(b []byte, from int) (mx.Request, error) {
	value := n.in | uint64(from)<<rankShift
	if p := n.c.peers[from].Load(); p != nil {
		if r, err := n.c.seat.ep.IrecvFrom(b, p.addr, value, mx.MatchMaskNone, nil); err == nil {
			n.received++
			return r, nil
		}
	}
	var r mx.Request
	var err error
	if gone := n.missing[from]; gone != nil {
		r, err = n.c.postLeft(n.op, b, value, mx.MatchMaskNone, from, Undefined, nil, gone)
	} else {
		r, err = n.c.post(n.op, b, value, mx.MatchMaskNone, from, Undefined, nil)
	}
	if err == nil {
		n.received++
	}
	return r, err
}

// conclude waits for an operation, and returns its error.
func (n *net) conclude(b pendingOp) error {
	st, done, err := n.c.await(n.op, b.r, true)
	if !done {
		return n.unfinished(b, err)
	}
	if b.well(&st) {
		return nil
	}
	return n.failed(b, &st)
}

// well reports whether an operation has ended without an error.
func (b pendingOp) well(st *mx.Status) bool {
	return st.Code == mx.StatusSuccess && (b.want < 0 || int(st.XferLength) == b.want)
}

// unfinished keeps an operation that is not waited for any more in the list, and returns the error.
func (n *net) unfinished(b pendingOp, err error) error {
	if _, dead := errors.AsType[*rankFailure](err); dead && b.want >= 0 {
		b.r = mx.Request{} // it was cancelled
	}
	n.pending = append(n.pending, b)
	if !n.rounds && b.want != 0 { // a Barrier, for one, has no buffers
		err = remarked(err, false, buffersRemark)
	}
	return n.c.broken(n.op, b.peer, Undefined, err)
}

// failed returns the error of an operation that has failed.
func (n *net) failed(b pendingOp, st *mx.Status) error {
	if st.Code == mx.StatusSuccess || st.Code == mx.StatusTruncated {
		if err := n.told(); err != nil {
			return err
		}
		if d := n.c.firstFailure(); d != nil { // the ranks may have come to different calls because of that
			return n.c.failWith(n.op, n.c.rankIn(d.rank), Undefined, ErrProcFailed, d)
		}
		return n.c.failWith(n.op, b.peer, Undefined, ErrCount,
			fmt.Errorf("collective call %d on the communicator: %d bytes were expected of rank %d, it has sent %d: the ranks give different counts, or call different collectives; MX_CHECK=1 says which",
				n.seq, b.want, b.peer, st.MsgLength))
	}
	return n.c.ended(n.op, b.peer, Undefined, st)
}
