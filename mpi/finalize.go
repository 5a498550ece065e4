package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/hang"
	"gomx/mx"
)

// Finalize ends the rank's part in the job, after all ranks have come here
// (MPI_Finalize): what was sent before has been received, or waits at its receiver. Calls
// after it return ErrFinalized. Requests that are not complete then are named on the standard error: what they
// were to send or receive is lost.
//
// If a rank has died, Finalize waits for nobody from when this one hears of it, and returns ErrProcFailed with the rank whose death this one has heard of first. So
// it does after any call of this rank that has failed with ErrProcFailed. All else is as ever: what
// was sent before is delivered, and the rank has left the job. Survivors that still need each other meet before, in a Barrier of a communicator of theirs.
//
// Errors: ErrFinalized the second time, ErrProcFailed, and what has become of a Bsend. After other errors, those of a
// collective, the rank has not left, and all may call it again.
func (c *Comm) Finalize() error {
	if err := c.usable("Finalize"); err != nil {
		return err
	}
	s := c.seat
	if c.state.context != worldContext {
		return c.fail("Finalize", ErrComm, "it ends the world: call it on the world's communicator")
	}
	s.dropFreed() // somebody may wait for that
	s.finalizing.Store(true)
	undelivered := c.awaitCopies("Finalize")
	if errors.Is(undelivered, ErrGivenUp) {
		s.finalizing.Store(false)
		return undelivered
	}
	open := s.unfinished()
	err := c.meetLast("Finalize")
	if err != nil && !errors.Is(err, ErrProcFailed) {
		s.finalizing.Store(false)
		return err
	}
	if err == nil {
		err = c.failedRank("Finalize")
	}
	if err != nil {
		err = c.firstDeath("Finalize", err)
	}
	s.nameThose(open)
	if s.finalized.Swap(true) {
		return c.fail("Finalize", ErrFinalized, "rank %d of the world has called it before", s.rank)
	}
	return cmp.Or(undelivered, err, c.leave("Finalize"))
}

// leave closes what the rank has open, in order: what it has sent is delivered.
func (c *Comm) leave(op string) error {
	j := c.seat.job
	if j.launch == nil { // the process has other ranks
		j.plane.leaveLocks(c.seat.rank)
		return c.seat.ep.Close()
	}
	j.takeLeave()
	j.close()
	leaveLibrary()
	if err := j.launch.Finalize(); err != nil {
		return c.fail(op, ErrLaunch, "%w", err)
	}
	return nil
}

// failedRank returns an error if the rank knows of one that has died, or if a call of its own has failed because of one. That all have come does not say that
// none has: in which collective the others are depends on which of theirs have failed, and what one of them has sent for another collective
// may be taken for its coming.
func (c *Comm) failedRank(op string) error {
	if d := c.mourns(); d != nil {
		return c.failWith(op, c.rankIn(d.rank), Undefined, ErrProcFailed, d)
	}
	if e := c.seat.lost.Load(); e != nil {
		return c.failWith(op, Undefined, Undefined, ErrProcFailed, e.Cause)
	}
	return nil
}

// firstDeath returns the error of a meeting to which somebody has not come, with the rank that has died first in its place. Who was to come may
// only have left because of a death that it has heard of before this rank, and so may who has been missed by the one that tells of its failure.
func (c *Comm) firstDeath(op string, err error) error {
	if c.seat.job.launch != nil {
		limit := time.Now().Add(guardGrace)
		for c.mourns() == nil && time.Now().Before(limit) && pause(c.seat.job.life, newsInterval) {
		}
	}
	return c.blame(op, err)
}

// newsInterval is how often it is looked whether there is news of a death.
const newsInterval = 10 * time.Millisecond

// lastMoment is how long Finalize waits for requests that nobody has waited for: their ends may be on the way.
const lastMoment = 100 * time.Millisecond

// unfinished returns the requests of the program that are not complete.
func (s *seat) unfinished() map[mx.Request]string {
	v := s.view()
	open := map[mx.Request]string{}
	for r, p := range v.pending {
		if n, ok := v.need(&p, ""); ok && (n.Kind == hang.Send || n.Kind == hang.Recv) {
			open[r] = nameOfRequest(&n)
		}
	}
	return open
}

// nameThose says which requests don't end, though all ranks have come to Finalize. A peer may have left by now.
func (s *seat) nameThose(open map[mx.Request]string) {
	limit := time.Now().Add(lastMoment)
	var names []string
	for r, name := range open {
		if !s.endsBy(limit, r) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	more := ""
	if left := len(names) - mostNamed; left > 0 {
		names, more = names[:mostNamed], fmt.Sprintf("; and %d more", left)
	}
	fmt.Fprintf(os.Stderr, "mpi: rank %d: requests are not complete at Finalize, and are given up: %s%s\n", s.rank, strings.Join(names, "; "), more)
}

// endsBy reports whether a request ends well in time, whoever wakes the rank up meanwhile. One whose peer has left does not.
func (s *seat) endsBy(limit time.Time, r mx.Request) bool {
	for {
		left := max(0, time.Until(limit))
		if st, done, err := s.ep.Wait(r, left); done || err != nil {
			return st.Code == mx.StatusSuccess
		}
		if left == 0 {
			return false
		}
	}
}

// mostNamed bounds how many of them are named.
const mostNamed = 8

// nameOfRequest puts a request in words.
func nameOfRequest(n *hang.Need) string {
	who, tag := "with any rank", "any tag"
	if n.Peer != hang.Any {
		who = fmt.Sprintf("with rank %d of the world", n.Peer)
	}
	if n.Tag != hang.Any {
		tag = fmt.Sprintf("tag %d", n.Tag)
	}
	return fmt.Sprintf("%s %s, %s, of %d bytes", n.Op, who, tag, n.Bytes)
}

// meet waits until all ranks have come. They tell it up a tree, and are told down the same
// tree: nobody leaves before those who still have to connect with it.
func (c *Comm) meet(op string, window uint64) error {
	n := c.net(op)
	return n.finish(n.meet(n, coll.Tree, window))
}

// meetLast is meet for those that leave when it is over, also if somebody has died.
func (c *Comm) meetLast(op string) error {
	n := c.net(op)
	n.last = true
	return n.finish(n.meet(n, coll.Tree, 0))
}
