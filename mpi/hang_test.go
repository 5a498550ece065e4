package mpi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() {
	programs["crossed"] = crossed
	programs["late"] = late
	programs["failures"] = failures
}

// hangTimeout is short: these programs really wait for each other.
const hangTimeout = 100 * time.Millisecond

// crossed receives have both ranks wait for the other.
func crossed(c *mpi.Comm) error {
	peer := c.Size() - 1 - c.Rank()
	if _, err := mpi.Recv(c, make([]int32, 4), peer, 5); err != nil {
		return err
	}
	return mpi.Send(c, make([]int32, 4), peer, 5)
}

// deadlocks are programs that never end, and what is said about them.
var deadlocks = []struct {
	name  string
	ranks int
	f     func(c *mpi.Comm) error
	says  []string
}{
	{"crossed receives", 2, crossed, []string{"deadlock: rank 0 waits for rank 1 in Recv, tag 5, world; rank 1 waits for rank 0 in Recv, tag 5, world"}},
	{"receives on a communicator that was freed", 2, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		q, err := mpi.Irecv(d, make([]int32, 4), 1-c.Rank(), 5)
		if err := errors.Join(err, d.Free()); err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	}, []string{"deadlock: rank 0 waits for rank 1 in Irecv, tag 5, world.dup; rank 1 waits for rank 0 in Irecv, tag 5, world.dup"}},
	{"a ring of synchronous sends", 4, func(c *mpi.Comm) error {
		if err := mpi.Ssend(c, make([]byte, 10), (c.Rank()+1)%c.Size(), 3); err != nil {
			return err
		}
		_, err := mpi.Recv(c, make([]byte, 10), mpi.AnySource, 3)
		return err
	}, []string{"deadlock: rank 0 waits for rank 1 in Ssend, tag 3, world", "rank 3 waits for rank 0"}},
	{"a ring of large sends", 3, func(c *mpi.Comm) error {
		if err := mpi.Send(c, make([]byte, 1<<20), (c.Rank()+1)%c.Size(), 3); err != nil {
			return err
		}
		_, err := mpi.Recv(c, make([]byte, 1<<20), mpi.AnySource, 3)
		return err
	}, []string{"deadlock: rank 0 waits for rank 1 in Send, tag 3, world"}},
	{"a receive before a barrier", 4, func(c *mpi.Comm) error {
		if c.Rank() == 2 {
			if _, err := mpi.Recv(c, make([]byte, 1), 0, 1); err != nil {
				return err
			}
		}
		return c.Barrier()
	}, []string{"deadlock: rank 0 waits for rank 2 in Barrier #1 of world; rank 2 waits for rank 0 in Recv, tag 1, world"}},
	{"locks taken crosswise", 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int32](c, 1)
		if err != nil {
			return err
		}
		err = errors.Join(w.Lock(c.Rank(), true), c.Barrier())
		return errors.Join(err, w.Lock(1-c.Rank(), true))
	}, []string{"deadlock: rank 0 waits for rank 1 in Win.Lock, world.window1; rank 1 waits for rank 0 in Win.Lock, world.window1"}},
}

func TestDeadlocksEnd(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	for _, d := range deadlocks {
		t.Run(d.name, func(t *testing.T) {
			amongOthers(t)
			for _, medium := range media {
				t.Run(medium, func(t *testing.T) {
					amongOthers(t)
					skipWithout(t, medium)
					err := run(t, d.ranks, d.f, mpi.WithTransports(medium), mpi.WithHangTimeout(hangTimeout))
					if !errors.Is(err, mpi.ErrAborted) {
						t.Fatal(err)
					}
					for _, s := range d.says {
						if !strings.Contains(err.Error(), s) {
							t.Errorf("%q does not say %q", err, s)
						}
					}
				})
			}
		})
	}
}

// report asks for reports until one says all that it should.
func report(c *mpi.Comm, says ...string) (*mpi.HangReport, error) {
	var last string
	for until := time.Now().Add(bound / 2); time.Now().Before(until); {
		r, err := c.HangReport(context.Background())
		if err != nil {
			return nil, err
		}
		last = r.Text
		if !slices.ContainsFunc(says, func(s string) bool { return !strings.Contains(last, s) }) {
			if !json.Valid(r.JSON) {
				return nil, errors.New("the report is no JSON")
			}
			return r, nil
		}
	}
	return nil, fmt.Errorf("no report says %q:\n%s", says, last)
}

// TestReportOfOneMissing: a rank that is in no call is named, and nothing ends.
func TestReportOfOneMissing(t *testing.T) {
	testlength.Long(t)
	over(t, 4, func(c *mpi.Comm) error {
		if c.Rank() == 2 {
			r, err := report(c, "ranks 0-1, 3: Barrier #1 of world")
			if err != nil {
				return err
			}
			if r.Deadlock || !strings.Contains(r.Text, "probable cause: rank 2 (not blocked in an MPI call): it has not come to Barrier #1 of world; 3 ranks") {
				return fmt.Errorf("deadlock %v:\n%s", r.Deadlock, r.Text)
			}
		}
		return c.Barrier()
	})
}

// TestReportOfAnySource: what may be freed by anybody is no deadlock for certain.
func TestReportOfAnySource(t *testing.T) {
	unchecked(t)
	overMany(t, 2, func(c *mpi.Comm) error {
		done := make(chan error, 1)
		go func() {
			_, err := mpi.Recv(c, make([]byte, 8), mpi.AnySource, mpi.AnyTag)
			done <- err
		}()
		if c.Rank() == 0 {
			r, err := report(c, "possible deadlock (if no other rank sends): rank 0 waits for rank 1 in Recv, any tag, world; rank 1")
			if err != nil {
				return err
			}
			if r.Deadlock || !strings.Contains(r.Text, "Recv from any rank, any tag, world, 8 B") {
				return fmt.Errorf("deadlock %v:\n%s", r.Deadlock, r.Text)
			}
			if err := mpi.Send(c, []byte{1}, 1, 0); err != nil {
				return err
			}
		}
		if c.Rank() == 1 {
			if err := <-done; err != nil {
				return err
			}
			return mpi.Send(c, []byte{1}, 0, 0)
		}
		return <-done
	})
}

// TestReportOfPending: requests that nobody waits for are in the report, and a rank that
// computes meanwhile is not stuck.
func TestReportOfPending(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		buf := make([]float64, 3)
		q, err := mpi.Irecv(c, buf, 1-c.Rank(), 77)
		if err != nil {
			return err
		}
		r, err := report(c, fmt.Sprintf("pending: Irecv from rank %d, tag 77, world, 24 B", 1-c.Rank()))
		if err != nil {
			return err
		}
		if r.Deadlock {
			return errors.New(r.Text)
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := mpi.Send(c, buf, 1-c.Rank(), 77); err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	})
}

func TestDeadlockOfProcesses(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	unchecked(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			said := ""
			for rank, e := range job(t, "crossed", 2, "MX_TRANSPORT="+transport, "MX_HANG_TIMEOUT=200ms") {
				if e.code == 0 {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
				said += e.output
			}
			for _, s := range []string{"has waited for longer than 200ms", "0  Recv from rank 1, tag 5, world, 16 B", "deadlock: rank 0 waits for rank 1"} {
				if !strings.Contains(said, s) {
					t.Errorf("nobody says %q: %s", s, said)
				}
			}
		})
	}
}

// late has a rank come to the barrier late.
func late(c *mpi.Comm) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() == 1 {
		if _, err := report(c, "ranks 0, 2: Barrier #2 of world"); err != nil {
			return err
		}
		pause, err := time.ParseDuration(os.Getenv(pauseVariable))
		if err != nil {
			return err
		}
		time.Sleep(pause) // until the others' patience is over
	}
	return c.Barrier()
}

func TestSlowRankOfProcesses(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	const says = "probable cause: rank 1 (not blocked in an MPI call): it has not come to Barrier #2 of world"
	for pause := 500 * time.Millisecond; ; pause *= 4 { // a busy machine may need longer to report
		exits := job(t, "late", 3, "MX_HANG_TIMEOUT=100ms", fmt.Sprint(pauseVariable, "=", pause))
		for rank, e := range exits {
			if e.code != 0 || rank != 0 && e.output != "" {
				t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
			}
		}
		if strings.Contains(exits[0].output, says) {
			return
		}
		if t.Failed() || 4*pause > bound/2 {
			t.Fatalf("rank 0 does not say %q: %s", says, exits[0].output)
		}
	}
}

// pauseVariable says how late the rank of TestSlowRankOfProcesses comes.
const pauseVariable = "MPI_TEST_PAUSE"

// TestFailureNotices: a rank that has never exchanged a message with the failed one learns of the failure, in a receive from
// any source and in a collective.
func TestFailureNotices(t *testing.T) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			for rank, e := range job(t, "failures", 4, "MX_TRANSPORT="+transport) {
				if want := []int{0, 0, 0, 9}[rank]; e.code != want || e.output != "" {
					t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
				}
			}
		})
	}
}

func failures(c *mpi.Comm) error {
	if c.Rank() == 3 {
		exit9()
	}
	_, anybody := mpi.Recv(c, make([]byte, 1), mpi.AnySource, 0)
	again := c.Barrier()
	for _, err := range []error{anybody, again} {
		if err := wantError(err, mpi.ErrProcFailed, c.Rank()); err != nil {
			return err
		}
		if !strings.Contains(err.Error(), "rank 3 of the world") {
			return fmt.Errorf("%q does not name the dead", err)
		}
	}
	return part(c)
}

// part leaves a job in which somebody has died, in order: what the rank has sent arrives.
func part(c *mpi.Comm) error {
	if err := wantError(c.Finalize(), mpi.ErrProcFailed, c.Rank()); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

func exit9() { os.Exit(9) }

// TestReportBesideWaitsThatEnd: reports look at calls that may end at that moment, which the race detector watches.
func TestReportBesideWaitsThatEnd(t *testing.T) {
	world(t, 3, func(c *mpi.Comm) error {
		ctx, stop := context.WithCancel(context.Background())
		var others sync.WaitGroup
		defer others.Wait()
		defer stop()
		others.Go(func() {
			for ctx.Err() == nil {
				_, _ = c.HangReport(ctx)
				time.Sleep(5 * time.Millisecond) // in which nothing orders what it has read before what the calls write
			}
		})
		errs := make([]error, 4)
		var calls sync.WaitGroup
		for i := range errs {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			calls.Go(func() { errs[i] = passAround(d, 100) })
		}
		calls.Wait()
		return errors.Join(append(errs, c.Barrier())...)
	})
}

// passAround sends to the next rank, and receives from the one before, so many times.
func passAround(c *mpi.Comm, times int) error {
	out, in := make([]int, long), make([]int, long)
	for range times {
		recv, err := mpi.Irecv(c, in, (c.Rank()+2)%3, 1)
		if err != nil {
			return err
		}
		send, err := mpi.Isend(c, out, (c.Rank()+1)%3, 1)
		if err != nil {
			return err
		}
		for reqs := []mpi.Request{recv, send}; !reqs[0].Empty() || !reqs[1].Empty(); {
			if _, _, err := mpi.WaitAny(reqs); err != nil {
				return err
			}
		}
	}
	return nil
}
