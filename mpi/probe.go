package mpi

import (
	"context"
	"errors"

	"gomx/mx"
)

// Iprobe looks whether a message has come from a rank, or AnySource, with a tag, or AnyTag, that no
// receive has taken (MPI_Iprobe). It leaves it there. The status has its length in bytes. Errors: ErrComm,
// ErrRank, ErrTag.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	const op = "Iprobe"
	if err := c.checkPeer(op, source, tag, true); err != nil {
		return emptyStatus, false, err
	}
	if source == ProcNull {
		return nullStatus, true, nil
	}
	value, mask := want(c.out&contextMask, source, tag)
	got, found, err := c.seat.ep.Iprobe(value, mask)
	if err != nil {
		return emptyStatus, false, c.broken(op, source, tag, err)
	}
	if !found {
		return emptyStatus, false, nil
	}
	return probed(&got), true, nil
}

// probed makes the status of a message that has been seen.
func probed(got *mx.Status) Status {
	n := int(got.MsgLength)
	return Status{Source: sourceOf(got.MatchInfo), Tag: tagOf(got.MatchInfo), Count: n, Bytes: n}
}

// Probe is Iprobe, and blocks until there is such a message (MPI_Probe). Error: ErrProcFailed if
// the rank, or with AnySource any rank, has died.
func (c *Comm) Probe(source, tag int) (Status, error) {
	const op = "Probe"
	st, found, err := c.Iprobe(source, tag)
	if found || err != nil {
		return st, renamed(err, op)
	}
	value, mask := want(c.out&contextMask, source, tag)
	l, err := c.lookout(op, source, tag)
	if err != nil {
		return emptyStatus, err
	}
	defer l.end()
	for {
		got, found, err := c.probe(value, mask)
		if found {
			return probed(&got), nil
		}
		if err == nil {
			err = l.gone()
		}
		if err != nil {
			return emptyStatus, c.broken(op, source, tag, err)
		}
	}
}

// renamed gives an error the name of the call that the program has made.
func renamed(err error, op string) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Op = op
	}
	return err
}

// probe probes for a while.
func (c *Comm) probe(value, mask uint64) (mx.Status, bool, error) {
	if c.ctx == nil {
		return c.seat.ep.Probe(slice, value, mask)
	}
	if err := c.ctx.Err(); err != nil {
		return mx.Status{}, false, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, slice)
	defer cancel()
	got, found, err := c.seat.ep.ProbeContext(ctx, value, mask)
	if err != nil && ctx.Err() != nil {
		err = c.ctx.Err() // the slice is over, or all of it is
	}
	return got, found, err
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

// gone returns the death that makes waiting useless, or nil.
func (l *lookout) gone() error {
	if l.rank == AnySource {
		if dead := l.c.mourns(); dead != nil {
			return dead
		}
		return nil
	}
	st, done, err := l.c.seat.ep.Test(l.watch)
	if !done || err != nil {
		return err
	}
	l.watch = mx.Request{}
	rank := l.c.worldRank(l.rank)
	l.c.seat.job.bury(rank, st.Code)
	return l.c.seat.job.deaths.why(rank)
}

func (l *lookout) end() {
	if l.watch.IsZero() {
		return
	}
	if taken, err := l.c.seat.ep.Cancel(l.watch); err == nil && !taken {
		_ = l.c.seat.ep.Forget(l.watch)
	}
}
