package mpi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gomx/mpi/internal/hang"
	"gomx/mx"
)

// Finalize ends the rank's part in the job when all ranks have called it (MPI_Finalize). Messages that were sent before are
// received, or buffered at their receiver. Later calls return ErrFinalized. Requests that are not complete are named on the
// standard error, and their messages are lost.
//
// If a rank has failed, Finalize waits for no rank once this one knows of the failure, and returns ErrProcFailed with the
// rank that failed first to this one's knowledge. It does the same after any call of this rank that has failed with
// ErrProcFailed. Messages that were sent before are delivered, and the rank has left the job. Surviving ranks that still need
// each other call Barrier on a communicator of theirs before Finalize.
//
// Errors: ErrFinalized at the second call, also beside a first one that has not returned; ErrProcFailed; and the error of
// an earlier Bsend. After other errors, which are those of a collective or of a context, the rank has not left the job, and
// calls Finalize again. If the error wraps ErrGivenUp, or is that of another rank that has given up, all ranks get such an
// error, and go on as before until then. A context that ends after the others were told that this rank comes only ends the
// wait: they leave without it when all have come. If another rank gives up after that, the next call returns its error.
func (c *Comm) Finalize() error {
	if err := c.usable("Finalize"); err != nil {
		return err
	}
	s := c.seat
	if c.state.context != worldContext {
		return c.fail("Finalize", ErrComm, "it ends the world: call it on the world's communicator")
	}
	if !s.finalizing.CompareAndSwap(false, true) {
		return c.fail("Finalize", ErrFinalized, "another goroutine of rank %d calls it", s.rank)
	}
	s.dropFreed() // a sender may wait for that
	undelivered, late := c.awaitCopies("Finalize")
	s.undelivered = cmp.Or(s.undelivered, undelivered)
	if late != nil && !s.last.Empty() { // the others know that this rank comes: their Finalize goes on
		s.finalizing.Store(false)
		return c.broken("Finalize", Undefined, Undefined, remarked(late, true, comesRemark))
	}
	open := s.unfinished()
	err := c.meetLast("Finalize") // if late is an error, its context has ended, so that this fails at all ranks: they must not leave
	if late != nil || err != nil && !errors.Is(err, ErrProcFailed) {
		s.finalizing.Store(false)
		return cmp.Or(late, err)
	}
	if err == nil {
		err = c.failedMeanwhile("Finalize")
	}
	s.nameThose(c.ctx, open, err == nil)
	if err != nil {
		c.sayWhoFailed()
	}
	if s.finalized.Swap(true) {
		return c.fail("Finalize", ErrFinalized, "rank %d of the world has called it before", s.rank)
	}
	return cmp.Or(s.withUndelivered(err), c.leave("Finalize"))
}

// withUndelivered adds the error of an earlier Bsend to that of Finalize. The failure of another rank comes behind the first one, because of
// which that rank may have left.
func (s *seat) withUndelivered(err error) error {
	if err == nil || s.undelivered == nil {
		return cmp.Or(s.undelivered, err)
	}
	first, failed := errors.AsType[*rankFailure](err)
	other, because := errors.AsType[*rankFailure](s.undelivered)
	if failed && because && first.rank != other.rank {
		return fmt.Errorf("%w; %w", err, s.undelivered)
	}
	return s.undelivered
}

// leave closes the rank's endpoint and libraries in order, so that sent messages are delivered.
func (c *Comm) leave(op string) error {
	j := c.seat.job
	if j.launch == nil { // the process has other ranks
		j.control.leaveLocks(c.seat.rank)
		return c.seat.ep.Close()
	}
	j.finishTelling()
	j.takeLeave()
	j.close()
	leaveLibrary()
	if err := j.launch.Finalize(); err != nil {
		return c.fail(op, ErrLaunch, "%w", err)
	}
	return nil
}

// failedRank returns an error if the rank knows of a failed rank, or if a call of its own has returned ErrProcFailed.
func (c *Comm) failedRank(op string) error {
	if d := c.firstFailure(); d != nil {
		return c.failWith(op, c.rankIn(d.rank), Undefined, ErrProcFailed, d)
	}
	if e := c.seat.lost.Load(); e != nil {
		return c.failWith(op, c.rankIn(e.rank), Undefined, ErrProcFailed, e.cause)
	}
	return nil
}

// failedMeanwhile is failedRank behind the last collective, with the rank that has failed first. That the collective has succeeded
// does not exclude a failure: which one the other ranks are in depends on which of theirs have failed, and a message for another
// may have matched in this one.
func (c *Comm) failedMeanwhile(op string) error {
	err := c.failedRank(op)
	if err == nil {
		return nil
	}
	c.awaitNews(func() bool { return false })
	return c.blame(op, err)
}

// awaitNews waits until a failure is known that is no consequence of another one, or until there is enough. A rank that is missing may
// only have left because of an earlier failure, of which this rank has not heard yet.
func (c *Comm) awaitNews(enough func() bool) {
	limit := c.newsUntil(time.Now())
	for c.hearWhoFailed(); !c.knowsWhoDied() && !enough() && c.seat.job.launch != nil && time.Now().Before(limit); c.hearWhoFailed() {
		if c.ctx != nil && c.ctx.Err() != nil || !pause(c.seat.job.life, newsInterval) {
			return
		}
	}
}

// newsUntil is until when a call waits for such news. They come soon behind the first failure: calls long after it do not wait again.
func (c *Comm) newsUntil(now time.Time) time.Time {
	if missed := c.firstFailure(); missed != nil {
		now = missed.since
	}
	return now.Add(guardGrace)
}

// knowsWhoDied reports whether a failure is known that is no consequence of another one.
func (c *Comm) knowsWhoDied() bool {
	d := c.firstFailure()
	return d != nil && !mayHaveLeft(d.cause)
}

// newsInterval is how often awaitNews looks.
const newsInterval = 10 * time.Millisecond

// lastMoment is how long Finalize waits for requests that the program has not waited for: they may be about to complete.
const lastMoment = 100 * time.Millisecond

// unfinished returns the requests of the program that are not complete.
func (s *seat) unfinished() map[mx.Request]hang.Need {
	v := s.view()
	open := map[mx.Request]hang.Need{}
	for r, p := range v.pending {
		if n, ok := v.need(&p, ""); ok && (n.Kind == hang.Send || n.Kind == hang.Recv) {
			open[r] = n
		}
	}
	return open
}

// lastCollectives is how long Finalize waits for collectives that the program has not waited for. All ranks have come to
// Finalize, so that those which all have begun do end, unless a rank leaves before.
const lastCollectives = time.Second

// awaitCollectives returns the names of nonblocking collectives that don't end, or end because a rank has left that never began them. While it
// waits, other ranks get what they still need of this one.
func (s *seat) awaitCollectives() (names []string) {
	limit := time.Now().Add(lastCollectives)
	begun := s.nonblocking.all()
	for left := begun; len(left) > 0 && time.Now().Before(limit) && pause(s.job.life, time.Millisecond); {
		left = s.nonblocking.all()
	}
	for _, b := range begun {
		if !b.well() {
			names = append(names, b.op)
		}
	}
	return names
}

// nameThose says which requests don't end, though all ranks have come to Finalize, if all have. A peer may have left by now.
func (s *seat) nameThose(ctx context.Context, open map[mx.Request]hang.Need, all bool) {
	var names []string
	if all {
		names = s.awaitCollectives()
		slices.Sort(names)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, lastMoment)
	defer cancel()
	var left []hang.Need
	for r, n := range open {
		if !s.ends(ctx, r) {
			left = append(left, n)
		}
	}
	names = append(names, namesOfRequests(left)...)
	if len(names) == 0 {
		return
	}
	more := ""
	if left := len(names) - mostNamed; left > 0 {
		names, more = names[:mostNamed], fmt.Sprintf("; and %d more", left)
	}
	fmt.Fprintf(os.Stderr, "mpi: rank %d: requests are not complete at Finalize, and are given up (Wait for each, or Cancel it): %s%s\n", s.rank, strings.Join(names, "; "), more)
}

// ends reports whether a request ends well before the context does, whoever wakes the rank up meanwhile. One whose peer has left does
// not.
func (s *seat) ends(ctx context.Context, r mx.Request) bool {
	for {
		if _, err := s.ep.WaitContext(ctx, r); !errors.Is(err, mx.ErrTimeout) || ctx.Err() != nil {
			return err == nil
		}
	}
}

// mostNamed bounds how many of them are named.
const mostNamed = 8

// namesOfRequests puts requests in words, in the order of their calls, ranks and tags.
func namesOfRequests(list []hang.Need) (names []string) {
	slices.SortFunc(list, func(a, b hang.Need) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Bytes, b.Bytes))
	})
	for i := range list {
		names = append(names, nameOfRequest(&list[i]))
	}
	return names
}

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
