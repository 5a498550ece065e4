package mpi

import (
	"errors"
	"fmt"
	"slices"

	"gomx/mpi/internal/service"
	"gomx/mpi/launch"
	"gomx/mx"
)

// noTag and noRank are the causes of errors that a wrong number has brought about.
func noTag(tag int) error { return fmt.Errorf("there is no tag %d: tags are 0 to %d", tag, TagUB) }

func noRank(rank, size int) error {
	if size == 0 {
		return fmt.Errorf("there is no rank %d: the group is empty", rank)
	}
	return fmt.Errorf("there is no rank %d: ranks are 0 to %d", rank, size-1)
}

// unreachable makes the error of a call whose peer could not be connected with.
func (c *Comm) unreachable(op string, rank, tag int, err error) error {
	if e := c.seat.usable(c, op); e != nil {
		return e
	}
	if c.ctx != nil && c.ctx.Err() != nil {
		return c.failWith(op, rank, tag, ErrOther, &expiry{cause: c.ctx.Err(), early: true, remark: earlyRemark})
	}
	if errors.Is(err, mx.ErrNoResources) {
		return c.failWith(op, rank, tag, ErrOther, err) // it is ours that are short: the rank may live
	}
	if _, dead := errors.AsType[*rankFailure](err); !dead {
		err = c.seat.unconnected(c.worldRank(rank), err)
	}
	return c.failWith(op, rank, tag, ErrProcFailed, err)
}

// unconnected is a rank that nobody has been connected with, and that can't be reached. It is an error.
type unconnected struct {
	rank  int // in the world
	cause error
}

func (u *unconnected) Error() string {
	if mayHaveLeft(u.cause) {
		return fmt.Sprintf("rank %d of the world is gone: %s", u.rank, fate(u.cause))
	}
	state := "has ended before its time, or there is no way to it"
	if service.Silent(u.cause) {
		state = "does not answer"
	}
	return fmt.Sprintf("rank %d of the world %s: %s", u.rank, state, launch.Shorten(u.cause.Error(), longestCause))
}
func (u *unconnected) Unwrap() error { return u.cause }

// missingFrom returns the rank of the world that an error says is missing, or Undefined.
func missingFrom(err error) int {
	if d, dead := errors.AsType[*rankFailure](err); dead {
		return d.rank
	}
	if u, silent := errors.AsType[*unconnected](err); silent {
		return u.rank
	}
	if f, told := errors.AsType[*failure](err); told {
		return f.missing
	}
	return Undefined
}

// unconnected makes that error, of which a launcher hears.
func (s *seat) unconnected(rank int, err error) error {
	if s.job.launch != nil {
		s.job.launch.Blame(rank)
	}
	return &unconnected{rank, err}
}

// broken makes the error of a call of mx that could not be carried out. The communicator may have been freed: what is pending goes on.
func (c *Comm) broken(op string, peer, tag int, err error) error {
	if e := c.seat.usable(c, op); e != nil {
		return e
	}
	if _, dead := errors.AsType[*rankFailure](err); dead {
		return c.failWith(op, peer, tag, ErrProcFailed, err)
	}
	if errors.Is(err, mx.ErrBadRequest) {
		return c.failWith(op, peer, tag, ErrRequest, fmt.Errorf("it was waited for or freed already, by another copy of the request: %w", err))
	}
	return c.failWith(op, peer, tag, ErrOther, err)
}

// ended makes the error of a request that mx ended otherwise than with success. The communicator may have been freed.
func (c *Comm) ended(op string, peer, tag int, st *mx.Status) error {
	if e := c.seat.usable(c, op); e != nil {
		return e
	}
	switch {
	case st.Code == mx.StatusTruncated:
		if peer == AnySource {
			peer = sourceOf(st.MatchInfo)
		}
		if tag == AnyTag {
			tag = tagOf(st.MatchInfo)
		}
		return c.failWith(op, peer, tag, ErrTruncate,
			fmt.Errorf("the message has %d bytes, the buffer %d: give the receive a larger one, or ask Probe for the length", st.MsgLength, st.XferLength))
	case isLoss(st.Code):
		return c.lost(op, peer, tag, st)
	}
	return c.failWith(op, peer, tag, ErrOther, st.Code)
}

// isLoss reports whether a request has ended in this way because its peer has gone.
func isLoss(code mx.StatusCode) bool {
	switch code {
	case mx.StatusEndpointClosed, mx.StatusEndpointUnreachable, mx.StatusTimeout, mx.StatusBadSession, mx.StatusEndpointUnknown:
		return true
	}
	return false
}

// lost makes the error of a request whose peer has died, and notes the failure.
func (c *Comm) lost(op string, peer, tag int, st *mx.Status) error {
	if peer == AnySource {
		peer = sourceOf(st.MatchInfo)
	}
	return c.failWith(op, peer, tag, ErrProcFailed, c.seat.job.lose(c.worldRank(peer), st.Code))
}

// lose notes the failure of a rank whose session with another of this process has ended, and returns it. Of a rank that only does not move, nobody learns
// who does not wait for it in the same way, so that the others are told.
func (j *job) lose(rank int, code mx.StatusCode) error {
	j.telling.Add(1)
	told := func() { j.telling.Add(-1) }
	if !j.noteFailure(rank, code) || code != mx.StatusTimeout {
		told()
		return j.failures.why(rank)
	}
	go j.labels("failures").Func(func() {
		defer told()
		j.tellAll(j.life, rank, code)
	})()
	return j.failures.why(rank)
}

// rankIn returns a rank of the world as one of the communicator, or Undefined.
func (c *Comm) rankIn(world int) int {
	if rank := slices.Index(c.world, int32(world)); rank >= 0 {
		return rank
	}
	return Undefined
}

// worldRank returns a rank of the communicator as one of the world.
func (c *Comm) worldRank(rank int) int {
	if rank < 0 || rank >= len(c.world) {
		return rank
	}
	return int(c.world[rank])
}
