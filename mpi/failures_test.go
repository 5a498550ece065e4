package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gomx/mpi/internal/service"
	"gomx/mx"
)

// TestFailuresAreReportedBriefly: what is said of a rank that is gone fits on a line, however many addresses were tried in vain, and
// begins with the rank.
func TestFailuresAreReportedBriefly(t *testing.T) {
	chain := errors.New("mx: connect")
	for i := range 30 {
		chain = fmt.Errorf("%w: dial tcp 10.0.0.%d:30000: connection refused", chain, i)
	}
	const says = "rank 3 of the world "
	for _, err := range []error{&rankFailure{rank: 3, cause: chain}, &unconnected{3, chain}} {
		text := err.Error()
		if len(text) > 300 || !strings.HasPrefix(text, says) || !errors.Is(err, chain) {
			t.Errorf("%d bytes: %s", len(text), text)
		}
	}
	for _, c := range []struct {
		cause error
		want  string
	}{
		{mx.StatusEndpointUnreachable, says + "is gone: it has ended before its time, or its host is cut off"},
		{fmt.Errorf("connecting: %w", mx.StatusEndpointClosed), says + "is gone: it has called Finalize, or has ended before its time"},
		{mx.StatusEndpointClosed, says + "is gone: it has called Finalize, or takes this rank for dead; if it has left a collective out, MX_CHECK=1 says which"},
		{mx.StatusTimeout, says + "is given up: it has not moved for as long as MX_REQUEST_TIMEOUT says; it may live, and a longer time waits for it"},
		{context.DeadlineExceeded, says + "is gone: it does not answer"},
	} {
		if got := (&rankFailure{rank: 3, cause: c.cause}).Error(); got != c.want {
			t.Errorf("%v: %q, want %q", c.cause, got, c.want)
		}
	}
}

// TestWhoGivesUsUpHasNotLeft: of a rank that takes this one for dead the end of the session may be heard of first. It is that of a rank that leaves.
func TestWhoGivesUsUpHasNotLeft(t *testing.T) {
	j := newJob(3, settings{}, nil)
	defer j.finish()
	j.control = newControlPlane(j, service.Local(0))
	c := &Comm{seat: &seat{job: j}, world: []int32{0, 1, 2}}
	if !j.noteFailure(1, mx.StatusEndpointClosed) || c.firstFailure() != nil {
		t.Fatalf("a rank that leaves: %v", c.firstFailure())
	}
	if !j.noteFailure(1, errGivenUp) || c.firstFailure() == nil || !errors.Is(c.firstFailure(), errGivenUp) {
		t.Errorf("a rank that has given up this one: %v", c.firstFailure())
	}
	if j.noteFailure(1, errGivenUp) || j.noteFailure(1, mx.StatusEndpointClosed) || c.firstFailure() == nil {
		t.Errorf("it is told twice: %v", c.firstFailure())
	}
	if j.noteFailure(2, mx.StatusTimeout); c.firstFailure().rank != 1 || j.failures.count.Load() != 2 {
		t.Errorf("the first of %d failures: %v", j.failures.count.Load(), c.firstFailure())
	}
}

// TestWhoDiedComesFirst: a rank that may only have left, because no endpoint of it was found, comes behind one that has died. If it turns out to have
// died itself, it is the first again.
func TestWhoDiedComesFirst(t *testing.T) {
	j := newJob(4, settings{}, nil)
	defer j.finish()
	j.control = newControlPlane(j, service.Local(0))
	c := &Comm{seat: &seat{job: j}, world: []int32{0, 1, 2, 3}}
	for _, step := range []struct {
		rank  int
		cause error
		news  bool
		first int
		sure  bool
	}{
		{1, fmt.Errorf("connecting: %w", mx.StatusEndpointClosed), true, 1, false},
		{1, missing("no endpoint"), false, 1, false},
		{2, mx.StatusEndpointUnreachable, true, 2, true},
		{3, mx.StatusEndpointUnreachable, true, 2, true},
		{1, mx.StatusEndpointUnreachable, true, 1, true},
		{1, missing("no endpoint"), false, 1, true},
	} {
		if news := j.noteFailure(step.rank, step.cause); news != step.news || c.firstFailure().rank != step.first || c.knowsWhoDied() != step.sure {
			t.Errorf("rank %d, %v: news %v, first %v, known %v; want %+v", step.rank, step.cause, news, c.firstFailure(), c.knowsWhoDied(), step)
		}
	}
}

// TestNewsComeOnce: calls long after a rank was missed do not wait again for the news of what became of it.
func TestNewsComeOnce(t *testing.T) {
	j := newJob(3, settings{}, nil)
	defer j.finish()
	j.control = newControlPlane(j, service.Local(0))
	c := &Comm{seat: &seat{job: j}, world: []int32{0, 1, 2}}
	now := time.Now()
	if until := c.newsUntil(now); !until.Equal(now.Add(guardGrace)) {
		t.Errorf("before a failure is known: for %v", until.Sub(now))
	}
	j.noteFailure(1, missing("no endpoint"))
	if late := time.Now().Add(guardGrace); !c.newsUntil(late).Before(late) {
		t.Errorf("%v after a rank was missed: for %v", guardGrace, c.newsUntil(late).Sub(late))
	}
}

// A connect with a rank that is known to have failed ends at once, also if the failure was noticed because the rank did not answer. So does one
// that is under way when the failure becomes known.
func TestConnectWithAFailedRank(t *testing.T) {
	j := &job{}
	s := &seat{job: j, peers: make([]atomic.Pointer[peer], 3)}
	silent := &rankFailure{rank: 2, cause: fmt.Errorf("connect: %w", mx.ErrTimeout)}
	j.failures.of = map[int32]*rankFailure{2: silent}
	j.failures.count.Store(1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.reach(ctx, 2); err != error(silent) || ctx.Err() != nil {
		t.Errorf("error %v; the context of the call: %v", err, ctx.Err())
	}
	under, over := j.failures.until(ctx, 0, 1)
	defer over()
	other, otherOver := j.failures.until(ctx, 0)
	defer otherOver()
	j.failures.note(1, mx.StatusTimeout)
	if under.Err() == nil || other.Err() != nil {
		t.Errorf("after the failure of rank 1, a connect with 0 and 1: %v; with 0 alone: %v", under.Err(), other.Err())
	}
}

// TestDeniedWindow: a rank that takes this one for dead denies its windows to it before it says so.
func TestDeniedWindow(t *testing.T) {
	err := Run(2, func(c *Comm) error {
		w, err := WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		err = errors.Join(w.LockAll(), c.Barrier())
		if c.Rank() == 1 {
			denied := c.seat.job.businessCards[0]
			err = errors.Join(err, c.seat.ep.DenyWindows(denied.nic, denied.endpointID), c.Barrier(), c.Barrier())
		} else {
			err = errors.Join(err, c.Barrier())
			late := errors.Join(w.Put([]int64{1}, 1, 0), w.Flush(1))
			if !errors.Is(late, ErrProcFailed) || !strings.Contains(late.Error(), errGivenUp.Error()) {
				t.Errorf("a put to a rank that has denied its windows: %v", late)
			}
			_ = w.UnlockAll() // its lock may be known to be lost
			return errors.Join(err, c.Barrier(), w.Free())
		}
		return errors.Join(err, w.UnlockAll(), w.Free())
	})
	if err != nil && !errors.Is(err, errGivenUp) { // rank 0 cannot finalize with it either
		t.Error(err)
	}
}
