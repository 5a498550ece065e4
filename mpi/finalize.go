package mpi

import (
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
// were to send or receive is lost. Errors: ErrFinalized the second time, what ends a
// collective, and what has become of a Bsend.
func (c *Comm) Finalize() error {
	if err := c.usable("Finalize"); err != nil {
		return err
	}
	s := c.seat
	world := c
	if c.state.context != worldContext {
		return c.fail("Finalize", ErrComm, "it ends the world: call it on the world's communicator")
	}
	s.dropFreed() // somebody may wait for that
	if err := world.awaitCopies("Finalize"); err != nil {
		return err
	}
	open := s.unfinished()
	if err := world.meet("Finalize", 0); err != nil {
		return err
	}
	s.nameThose(open)
	if s.finalized.Swap(true) {
		return c.fail("Finalize", ErrFinalized, "rank %d of the world has called it before", s.rank)
	}
	if s.job.launch == nil {
		return s.ep.Close() // the process has other ranks
	}
	s.job.takeLeave()
	s.job.close()
	leaveLibrary()
	if err := s.job.launch.Finalize(); err != nil {
		return c.fail("Finalize", ErrLaunch, "%w", err)
	}
	return nil
}

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
	return n.finish(n.meet(coll.Tree, window))
}
