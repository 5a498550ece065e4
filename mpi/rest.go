package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"gomx/mpi/internal/coll"
	"gomx/mx"
)

// rest executes the remaining steps of a collective that has failed at this rank, without data. Ranks that wait for a
// message get a notice of the failure instead, and messages of other ranks are received and dropped. It is a Net of
// internal/coll.
type rest struct {
	n              *net
	notice         []byte
	sent, received int              // numbers of messages that were sent and received before the failure, and not reached yet
	told           map[int]bool     // the ranks that were notified: once, since they fail at the first message that is missing
	later          map[int][][]byte // what goes in place of messages to ranks that are not connected yet
	quiet          bool             // no rank has to be notified
	leaves         bool             // this rank leaves the job, because of a failure
}

// A notice says why a collective has failed, and where. It stays unexpected at its receiver until that gets a message
// of a length that it does not expect: that message has no bytes where the receiver expects some, and oddLength bytes
// where it expects none.
const (
	noticeHead = 12 // the class of the error, the rank, and the rank of the world that is missing, or Undefined
	noticeSize = 512
	oddLength  = 1021
	noticeWait = time.Second
	lastWords  = time.Second // for connecting to a rank in order to notify it, if this one leaves
)

var odd [oddLength]byte

// failure is the failure of a collective at another rank.
type failure struct {
	seq, rank int
	missing   int // rank of the world because of which it has failed, or Undefined
	class     ErrorClass
	why       string
}

// isTold reports whether an error is that of another rank.
func isTold(err error) bool {
	_, told := errors.AsType[*failure](err)
	return told
}

func (e *failure) Error() string {
	return fmt.Sprintf("collective call %d on the communicator has failed at rank %d: %s", e.seq, e.rank, e.why)
}

// fail ends a collective that has failed at this rank: ranks that wait for it are notified, and notify ranks that wait
// for them. run executes the rest of the collective.
func (n *net) fail(err error, run func(rest coll.Net) error) error {
	return n.failAs(err, func(rest coll.Net) error {
		if n.checked() {
			_, _ = compare(rest, make([]byte, callRecordSize))
		}
		return run(rest)
	})
}

// failAs is fail if run executes the whole collective.
func (n *net) failAs(err error, run func(rest coll.Net) error) error {
	if e, ok := errors.AsType[*expiry](err); ok && e.early { // the collective has been called, and others are told that it has failed here
		e.early, e.remark = false, unconnectedRemark
	}
	if errors.Is(err, ErrMismatch) || n.c.seat.usable(n.c, n.op) != nil {
		return err // all ranks know
	}
	err = n.cause(err)
	if n.rest == nil {
		n.rest = &rest{n: n, notice: n.notice(err), told: map[int]bool{}, later: map[int][][]byte{}}
		d, dead := errors.AsType[*rankFailure](err)
		n.rest.leaves = n.last != notLast && errors.Is(err, ErrProcFailed)
		n.rest.quiet = dead && !d.left && !n.rest.leaves // the failure of a rank ends the waits of all by itself, but a rank that leaves now may be missed before that is known
	}
	r := n.rest
	n.leaves().loose = r.quiet || n.rounds // in another round than this rank, others have sent more or fewer messages
	r.sent, r.received = n.sent, n.received
	_ = run(r)
	r.tellLater()
	return err
}

// cause returns the error that says why a collective has failed at this rank. One that misses a rank which may only have left waits for the
// news of why: that rank has notified this one before, if the collective has failed there, and otherwise others tell who has died. Once this
// rank has notified others, their notices may be its own.
func (n *net) cause(err error) error {
	err = n.c.blame(n.op, err)
	if !errors.Is(err, ErrProcFailed) || isTold(err) || n.rest != nil {
		return err
	}
	var told error
	n.c.awaitNews(func() bool {
		told = n.told()
		return told != nil
	})
	if errors.Is(told, ErrProcFailed) {
		return told
	}
	return n.c.blame(n.op, err)
}

// blame returns the error of a collective that has failed because a rank has left or failed. If a rank of the
// communicator has failed, it is named as the cause: other ranks may have left because of that. One that may have left itself is no
// better cause than what another rank has told.
func (c *Comm) blame(op string, err error) error {
	if !errors.Is(err, ErrProcFailed) {
		return err
	}
	d := c.firstFailure()
	if d == nil || isTold(err) && mayHaveLeft(d.cause) {
		return err
	}
	return c.failWith(op, c.rankIn(d.rank), Undefined, ErrProcFailed, d)
}

// notice encodes an error for other ranks.
func (n *net) notice(err error) []byte {
	e := &failure{rank: n.c.rank, missing: missingFrom(err), class: ErrOther, why: err.Error()}
	if !errors.As(err, &e) {
		if ours, ok := errors.AsType[*Error](err); ok && ours.Cause != nil {
			e.class, e.why = ours.Class, ours.Cause.Error()
		}
	}
	b := make([]byte, noticeHead, noticeSize)
	binary.LittleEndian.PutUint32(b, uint32(e.class))
	binary.LittleEndian.PutUint32(b[4:], uint32(e.rank))
	binary.LittleEndian.PutUint32(b[8:], uint32(e.missing))
	return append(b, e.why[:min(len(e.why), noticeSize-noticeHead)]...)
}

// noticeBits are those of the notices about a collective.
func (n *net) noticeBits() uint64 {
	return noticesOf(n.c.state.context) | uint64(n.seq)
}

// noticesOf returns the bits of the notices about the collectives of a communicator, but for the tag.
func noticesOf(context uint32) uint64 { return bitsOf(inwardContext, int(context/2)) | collective }

// told returns the error of a collective that another rank has notified this one of, or nil.
func (n *net) told() error {
	e := n.failure()
	if e == nil {
		return nil
	}
	if job := n.c.seat.job; job.launch != nil && e.class == ErrProcFailed && e.rank != n.c.rank { // another rank may have passed on what this one has found
		job.launch.Blame(n.c.worldRank(e.rank)) // That rank has itself told the launcher which rank it misses, and it may end after this one does.
	}
	named := e.rank
	if missing := n.c.rankIn(e.missing); missing != Undefined {
		named = missing
	}
	return n.c.failWith(n.op, named, Undefined, e.class, e)
}

// failure returns the failure of the collective that another rank has notified this one of, or nil.
func (n *net) failure() *failure {
	b := n.c.notice(n.noticeBits())
	if len(b) < noticeHead {
		return nil
	}
	class := ErrorClass(binary.LittleEndian.Uint32(b))
	if _, known := classTexts[class]; !known {
		class = ErrOther
	}
	rankAt := func(at int) int { return int(int32(binary.LittleEndian.Uint32(b[at:]))) }
	return &failure{seq: n.seq, rank: rankAt(4), missing: rankAt(8), class: class, why: string(b[noticeHead:])}
}

// notice returns a notice with some bits that has arrived, or nil.
func (c *Comm) notice(bits uint64) []byte {
	ep := c.seat.ep
	m, st, found, err := ep.Iclaim(bits, mx.MatchMaskNone)
	if !found || err != nil {
		return nil
	}
	b := make([]byte, min(st.MsgLength, noticeSize))
	r, err := ep.IrecvMessage(b, m, nil)
	if err != nil {
		return nil
	}
	switch st, done, err := ep.Wait(r, noticeWait); {
	case err != nil || done && st.Code != mx.StatusSuccess:
		return nil
	case !done:
		c.letGo(r)
		return nil
	}
	return b
}

// tell sends something in place of a message of so many bytes, each time: the rank may have given up too, and has posted a
// receive for every message that is to come. Before the first it sends the notice.
func (r *rest) tell(to, bytes int) {
	if r.sent > 0 {
		r.sent--
		return
	}
	if r.quiet {
		return
	}
	instead := odd[:]
	if bytes > 0 {
		instead = nil
	}
	r.say(to, instead)
}

// warn sends the notice alone to a rank that sends to this one, which leaves, so that the send may fail.
func (r *rest) warn(rank int) {
	if r.leaves && !r.told[rank] {
		r.say(rank)
	}
}

// say sends the notice, before all else, and something in place of a message.
func (r *rest) say(to int, instead ...[]byte) {
	p := r.n.c.peers[to].Load()
	if _, waits := r.later[to]; waits || p == nil {
		r.later[to] = append(r.later[to], instead...)
		return
	}
	s := r.n.c.seat
	if !r.told[to] {
		r.told[to] = true
		s.post(r.notice, p, r.n.noticeBits())
	}
	for _, b := range instead {
		s.post(b, p, r.n.out)
	}
}

// tellLater notifies the ranks that are not connected yet, all at the same time. One that is stopped is notified when it goes on. A
// communicator that was freed meanwhile keeps its context until then.
func (r *rest) tellLater() {
	var words sync.WaitGroup
	defer words.Wait()
	c, notice, noticeBits, out := r.n.c, r.notice, r.n.noticeBits(), r.n.out
	for to, list := range r.later {
		r.told[to] = true
		tell := func(ctx context.Context) { // not that of the communicator, which may have ended
			p, err := c.seat.reachStopped(ctx, int(c.world[to]))
			if err != nil {
				return
			}
			c.seat.post(notice, p, noticeBits)
			for _, instead := range list {
				c.seat.post(instead, p, out)
			}
		}
		c.seat.ep.Share()
		if r.leaves {
			words.Go(c.seat.labels("collectives").Func(func() {
				ctx, cancel := context.WithTimeout(c.seat.job.life, lastWords)
				defer cancel()
				tell(ctx)
			}))
			continue
		}
		c.state.holds()
		go c.seat.labels("collectives").Func(func() {
			tell(c.seat.job.life)
			if c.state.ends(1) {
				c.seat.forget(c)
			}
		})()
	}
	clear(r.later)
}

// post sends a message that nothing waits for, and whose buffer does not change.
func (s *seat) post(b []byte, to *peer, match uint64) {
	if s.ep.SendNow(b, to.addr, match) {
		return
	}
	if q, err := s.ep.Isend(b, to.addr, match, nil); err == nil {
		_ = s.ep.Forget(q)
	}
}

// Rank returns the caller's rank.
func (r *rest) Rank() int { return r.n.Rank() }

// Size returns how many ranks there are.
func (r *rest) Size() int { return r.n.Size() }

// Send notifies the rank.
func (r *rest) Send(b []byte, to int) error { return r.Isend(b, to) }

// Isend notifies the rank.
func (r *rest) Isend(b []byte, to int) error {
	r.tell(to, len(b))
	return nil
}

// Recv drops the message of the rank.
func (r *rest) Recv(b []byte, from int) error { return r.Irecv(b, from) }

// Irecv drops the message of the rank.
func (r *rest) Irecv(_ []byte, from int) error {
	r.warn(from)
	if r.received > 0 {
		r.received--
		return nil
	}
	r.n.sink(from)
	return nil
}

// Sendrecv notifies one rank, and drops the message of the other.
func (r *rest) Sendrecv(send []byte, to int, recv []byte, from int) error {
	_ = r.Isend(send, to)
	return r.Irecv(recv, from)
}

// WaitAll returns at once, since nothing is pending.
func (r *rest) WaitAll() error { return nil }

// Scratch returns memory that nothing uses.
func (r *rest) Connect() {} // tell connects to the ranks that it notifies

func (r *rest) Scratch(size int) []byte { return aligned(size) }

// nothing is the operation of a reduction without data.
func nothing[T any](_, _ []T) {}
