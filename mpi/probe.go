package mpi

import (
	"context"
	"time"

	"gomx/internal/ended"
	"gomx/mpi/internal/hang"
	"gomx/mx"
)

// Iprobe checks whether a message from a rank, or AnySource, with a tag, or AnyTag, has arrived that no receive has
// matched (MPI_Iprobe). It does not receive it. The status has its length in bytes. Errors: ErrComm, ErrRank, ErrTag;
// ErrProcFailed if there is none, and the rank, or with AnySource any rank, is known to have failed. Safe from any
// goroutine.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	st, _, found, err := c.look("Iprobe", source, tag, false, 0)
	return st, found, err
}

// Probe is Iprobe that blocks until there is such a message (MPI_Probe). It ends with ErrProcFailed also if the rank
// has finalized.
func (c *Comm) Probe(source, tag int) (Status, error) {
	st, _, _, err := c.look("Probe", source, tag, false, mx.Infinite)
	return st, err
}

// Improbe is Iprobe that also removes the message from matching: only Mrecv can receive it (MPI_Improbe).
func (c *Comm) Improbe(source, tag int) (*Message, Status, bool, error) {
	st, m, found, err := c.look("Improbe", source, tag, true, 0)
	if !found {
		return nil, st, false, err
	}
	return &Message{c: c, m: m, st: st}, st, true, nil
}

// Mprobe is Improbe that blocks until there is such a message (MPI_Mprobe). Errors: those of Probe.
func (c *Comm) Mprobe(source, tag int) (*Message, Status, error) {
	st, m, found, err := c.look("Mprobe", source, tag, true, mx.Infinite)
	if !found {
		return nil, st, err
	}
	return &Message{c: c, m: m, st: st}, st, nil
}

// look looks for a message, and takes it if that is wanted. Found is false only after an error, or without
// time to wait.
func (c *Comm) look(op string, source, tag int, take bool, timeout time.Duration) (Status, mx.Message, bool, error) {
	if err := c.checkPeer(op, source, tag, true); err != nil {
		return emptyStatus, mx.Message{}, false, err
	}
	if source == ProcNull {
		return nullStatus, mx.Message{}, true, nil
	}
	value, mask := want(c.out&contextMask, source, tag)
	m, got, found, err := c.sight(value, mask, take, 0)
	if found {
		return c.probed(&got), m, true, nil
	}
	if err == nil && timeout == 0 && c.failureOf(source) == nil {
		return emptyStatus, m, false, nil
	}
	var l lookout
	if err == nil {
		if l, err = c.lookout(op, source, tag); err != nil {
			return emptyStatus, m, false, err
		}
		defer l.end()
		w := c.seat.waits.enterNeed(c, op, hang.Need{Kind: hang.Recv, Peer: c.worldRank(source), Tag: tag})
		defer c.seat.waits.leave(w)
	}
	for err == nil {
		dead := l.gone() // asked before the last look: what the dead have sent counts
		if m, got, found, err = c.sight(value, mask, take, min(timeout, slice)); found {
			return c.probed(&got), m, true, nil
		}
		if err == nil {
			err = dead
		}
		if err == nil && timeout == 0 { // the session with a rank that has failed is not over yet
			return emptyStatus, m, false, nil
		}
	}
	return emptyStatus, m, false, c.broken(op, source, tag, err)
}

// sight looks for a message for a time, or until the context ends.
func (c *Comm) sight(value, mask uint64, take bool, timeout time.Duration) (m mx.Message, st mx.Status, found bool, err error) {
	ep, ctx := c.seat.ep, c.ctx
	if timeout == 0 {
		ctx = nil // which ends waits
	}
	switch {
	case take:
		return ep.Claim(ctx, timeout, value, mask)
	case ctx == nil:
		st, found, err = ep.Probe(timeout, value, mask)
		return m, st, found, err
	}
	short, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if st, found, err = ep.ProbeContext(short, value, mask); ended.By(short, err) {
		err = ctx.Err() // nil: only the time is over
	}
	return m, st, found, err
}

// probed makes the status of a message that has been seen.
func (c *Comm) probed(got *mx.Status) Status {
	n := int(got.MsgLength)
	if c.checksTypes() {
		n -= typeHeadSize
	}
	return Status{Source: sourceOf(got.MatchInfo), Tag: tagOf(got.MatchInfo), Count: n, Bytes: n}
}

// lookout sees whether those die whose message is awaited by a call that is tied to nobody.
type lookout struct {
	c     *Comm
	rank  int // in the communicator, or AnySource
	watch mx.Request
}

func (c *Comm) lookout(op string, source, tag int) (lookout, error) {
	l := lookout{c: c, rank: source}
	if source == AnySource {
		return l, nil
	}
	p, err := c.peer(op, source, tag)
	if err != nil {
		return l, err
	}
	if l.watch, err = c.seat.ep.Watch(p.addr, bitsOf(inwardContext, 0), nil); err != nil {
		return l, c.broken(op, source, tag, err)
	}
	return l, nil
}

// gone returns the failure that makes waiting useless, or nil.
func (l *lookout) gone() error {
	if l.rank == AnySource {
		return l.c.failureOf(AnySource)
	}
	st, done, err := l.c.seat.ep.Test(l.watch)
	if !done || err != nil {
		return err
	}
	l.watch = mx.Request{}
	return l.c.seat.job.lose(l.c.worldRank(l.rank), st.Code)
}

func (l *lookout) end() {
	if !l.watch.IsZero() {
		l.c.letGo(l.watch)
	}
}
