package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gomx/mpi"
)

// TestOtherCallsAdvanceCollectives: a rank that blocks in a call about something else does its part of the collectives that it has started, in whichever
// order the ranks wait for them.
func TestOtherCallsAdvanceCollectives(t *testing.T) {
	over(t, 5, func(c *mpi.Comm) error {
		mine, all := []int{c.Rank()}, make([]int, c.Size())
		gather, err := mpi.Iallgather(c, mine, all)
		if err != nil {
			return err
		}
		barrier, err := c.Ibarrier()
		if err != nil {
			return err
		}
		first, second := &gather, &barrier
		if c.Rank()%2 != 0 {
			first, second = second, first
		}
		if c.Rank() == 0 { // waits for a message that comes when the others have their values
			for range c.Size() - 1 {
				if _, err := mpi.Recv(c, make([]int, 1), mpi.AnySource, 1); err != nil {
					return err
				}
			}
		}
		for _, q := range []*mpi.Request{first, second} {
			if _, err := q.Wait(); err != nil {
				return err
			}
		}
		if c.Rank() != 0 {
			if err := mpi.Send(c, mine, 0, 1); err != nil {
				return err
			}
		}
		return same(all, []int{0, 1, 2, 3, 4})
	})
}

// TestCollectivesAdvanceByThemselves: a rank that makes no call any more does its part of a collective, however many rounds that has.
func TestCollectivesAdvanceByThemselves(t *testing.T) {
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			skipWithout(t, medium)
			over := make(chan struct{})
			world(t, 4, func(c *mpi.Comm) error {
				if err := c.SetAlgorithm("barrier", "dissemination"); err != nil {
					return err
				}
				q, err := c.Ibarrier()
				if err != nil {
					return err
				}
				if c.Rank() == 0 {
					<-over // no call
				}
				_, err = q.Wait()
				if c.Rank() == 3 && err == nil {
					close(over)
				}
				return err
			}, mpi.WithTransports(medium))
		})
	}
}

// TestTestBesideAnotherWait: one goroutine tests a collective while another waits for a message, which the other rank sends when
// the collective has ended.
func TestTestBesideAnotherWait(t *testing.T) {
	overMany(t, 2, func(c *mpi.Comm) error {
		for range 50 {
			got, waited := make([]int, 1), make(chan error, 1)
			if c.Rank() == 0 {
				go func() { waited <- second(mpi.Recv(c, got, 1, 1)) }()
			}
			sum := []int{0}
			q, err := mpi.Iallreduce(c, []int{c.Rank() + 1}, sum, mpi.Sum)
			for done := false; !done && err == nil; {
				_, done, err = q.Test()
			}
			switch {
			case err != nil:
			case c.Rank() == 0:
				err = <-waited
			default:
				err = mpi.Send(c, sum, 0, 1)
			}
			if err != nil {
				return err
			}
			if sum[0] != 3 || c.Rank() == 0 && got[0] != 3 {
				return fmt.Errorf("sum %d, told %d", sum[0], got[0])
			}
		}
		return nil
	})
}

// TestMessagesAndCollectivesTogether: calls that wait for several requests return whichever is complete.
func TestMessagesAndCollectivesTogether(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		left, right := (c.Rank()+2)%3, (c.Rank()+1)%3
		for _, waitAll := range []bool{false, true} {
			in, sum := []int{-1}, []int{0}
			reqs := make([]mpi.Request, 3)
			var err error
			if reqs[0], err = mpi.Irecv(c, in, left, 1); err != nil {
				return err
			}
			if reqs[1], err = mpi.Isend(c, []int{c.Rank()}, right, 1); err != nil {
				return err
			}
			if c.Rank() == 2 { // the last to begin: the message of rank 1 is there when it does
				i, _, err := mpi.WaitAny(reqs[:1])
				if i != 0 || err != nil {
					return fmt.Errorf("the message: %d, %w", i, err)
				}
			}
			if reqs[2], err = mpi.Iallreduce(c, []int{c.Rank()}, sum, mpi.Sum); err != nil {
				return err
			}
			if waitAll {
				err = mpi.WaitAll(reqs, nil)
			}
			for i := 0; !waitAll && i != mpi.Undefined && err == nil; {
				i, _, err = mpi.WaitAny(reqs)
			}
			if err != nil || in[0] != left || sum[0] != 3 {
				return fmt.Errorf("got %v and %v, %w", in, sum, err)
			}
		}
		return nil
	})
}

// TestForgottenCollectivesLeaveNothing: those whose requests were freed end by themselves, and those whose context ends while they are suspended
// do, and so does what belongs to them.
func TestForgottenCollectivesLeaveNothing(t *testing.T) {
	unchecked(t)
	const calls = 40
	over(t, 2, func(c *mpi.Comm) error {
		if err := c.Barrier(); err != nil {
			return err
		}
		goroutines := runtime.NumGoroutine()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if c.Rank() == 0 {
			for i := range 2 * calls {
				d := c
				if i >= calls {
					d = c.WithContext(ctx)
				}
				q, err := mpi.Iallreduce(d, make([]int64, 1000), make([]int64, 1000), mpi.Sum)
				if err != nil {
					return err
				}
				if err := q.Free(); err != nil {
					return err
				}
			}
			if n := mpi.Backgrounds(c); n != 2*calls {
				return fmt.Errorf("%d are under way, of %d that nobody has joined", n, 2*calls)
			}
			cancel()
			if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
				return err
			}
		} else {
			if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
				return err
			}
			for i := range 2 * calls {
				err := mpi.Allreduce(c, make([]int64, 1000), make([]int64, 1000), mpi.Sum)
				if err != nil && (i < calls || !errors.Is(err, mpi.ErrOther)) {
					return fmt.Errorf("call %d: %w", i, err)
				}
			}
		}
		return errors.Join(until(func() error {
			if n := mpi.Backgrounds(c); n != 0 {
				return fmt.Errorf("%d are under way still", n)
			}
			if now := runtime.NumGoroutine(); now > goroutines+4 {
				return fmt.Errorf("%d goroutines, %d before", now, goroutines)
			}
			return nil
		}), sum(c))
	})
}

// TestLockedThreads: a collective may be started and advanced by goroutines that are locked to threads, and by others.
func TestLockedThreads(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		for range 20 {
			started := make(chan error, 1)
			var q mpi.Request
			go func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				var err error
				q, err = mpi.Iallgather(c, []int{c.Rank()}, make([]int, 2))
				started <- err
			}()
			if err := <-started; err != nil {
				return err
			}
			if _, err := q.Wait(); err != nil {
				return err
			}
		}
		return nil
	}, mpi.WithTransports("mem"))
}

// TestOperationPanics: the panic of an operation in a collective that was started is the error of its request, and a rank that ends with
// it says what has panicked, and where.
func TestOperationPanics(t *testing.T) {
	unchecked(t)
	skipWithout(t, "shm")
	for rank, e := range job(t, "panics", 2) {
		if e.code == 0 || rank == 0 && !strings.Contains(e.output, "has panicked: no such sum at background_test.go:") {
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
	}
}

func panics(world *mpi.Comm) error {
	op := mpi.Sum[int]
	if world.Rank() == 0 {
		op = func(_, _ []int) { panic("no such sum") }
	}
	q, err := mpi.Iallreduce(world, []int{1}, []int{0}, op)
	if err == nil {
		_, err = q.Wait()
	}
	return errors.Join(err, world.Barrier())
}

// TestPanicSparesTheOthers: of several collectives those complete whose operations do not panic, and whatever call has made progress goes on.
func TestPanicSparesTheOthers(t *testing.T) {
	unchecked(t)
	over(t, 2, spares)
	t.Run("processes", func(t *testing.T) {
		skipWithout(t, "shm")
		for rank, e := range job(t, "spares", 2, "MX_CHECK=0") {
			if e.code != 0 {
				t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
			}
		}
	})
}

// spares has rank 0 combine for several sums at once, of which every other one panics.
func spares(c *mpi.Comm) error {
	if err := c.SetAlgorithm("allreduce", "reduce-bcast"); err != nil {
		return err
	}
	throws := func(_, _ []int) { panic("no such sum") }
	beyond := func(acc, in []int) { acc[len(in)+1] = 0 }
	ops := []mpi.Op[int]{throws, mpi.Sum[int], beyond, mpi.Sum[int], throws, mpi.Sum[int]}
	for round := range 20 {
		if c.Rank() != 0 && round%2 == 0 { // its contributions come when rank 0 has started
			if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
				return err
			}
		}
		sums, requests := make([]int, len(ops)), make([]mpi.Request, len(ops))
		for i, op := range ops {
			var err error
			if requests[i], err = mpi.Iallreduce(c, []int{1}, sums[i:i+1], op); err != nil {
				return err
			}
		}
		if c.Rank() == 0 && round%2 == 0 {
			if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
				return err
			}
		}
		for i := range requests {
			_, err := requests[i].Wait()
			p, panicked := errors.AsType[*mpi.PanicError](err)
			switch {
			case i%2 == 1 && err == nil && sums[i] == 2:
			case i%2 == 0 && c.Rank() == 0 && panicked && strings.Contains(err.Error(), " at background_test.go:"):
				if fault, ok := errors.AsType[runtime.Error](err); ok != (i == 2) || !ok && p.Value != "no such sum" {
					return fmt.Errorf("round %d, collective %d: %v, %w", round, i, fault, err)
				}
			case i%2 == 0 && c.Rank() == 1 && errors.Is(err, mpi.ErrOther) && strings.Contains(err.Error(), "failed at rank 0"):
			default:
				return fmt.Errorf("round %d, collective %d of rank %d: %d, %w", round, i, c.Rank(), sums[i], err)
			}
		}
		if err := errors.Join(c.Barrier(), sum(c)); err != nil {
			return err
		}
	}
	return nil
}

// TestProcessDiesWhileACollectiveIsSuspended: the failure of a rank ends those that wait for another one.
func TestProcessDiesWhileACollectiveIsSuspended(t *testing.T) { diesAlone(t, "suspended") }

func suspended(world *mpi.Comm) error {
	if err := world.SetAlgorithm("bcast", "flat"); err != nil {
		return err
	}
	switch world.Rank() {
	case 0:
		q, err := mpi.Ibcast(world, make([]int, 1), 2) // whose root does not call it
		if err == nil {
			err = mpi.Send(world, []int{1}, 1, goTag)
		}
		if err == nil {
			_, err = q.Wait()
		}
		if err := wantError(err, mpi.ErrProcFailed, 0); err != nil {
			return err
		}
		if !q.Empty() || !strings.Contains(err.Error(), "rank 1 of the world") {
			return fmt.Errorf("%q does not name the dead", err)
		}
		if err := mpi.Send(world, []int{1}, 2, goTag); err != nil {
			return err
		}
	case 1:
		if _, err := mpi.Recv(world, make([]int, 1), 0, goTag); err != nil {
			return err
		}
		os.Exit(7)
	case 2:
		if _, err := mpi.Recv(world, make([]int, 1), 0, goTag); err != nil {
			return err
		}
	}
	return part(world)
}

// TestContextThatEndsWithTheCollective: what hears of a context's end when the collective that began under it is over has nothing to do with the next one.
func TestContextThatEndsWithTheCollective(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		for i := range 300 {
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan struct{})
			sum := make([]int, 1)
			q, err := mpi.Iallreduce(c.WithContext(ctx), []int{i}, sum, mpi.Sum)
			if err != nil {
				end()
				return err
			}
			go func() {
				defer close(ended)
				end()
			}()
			if _, err = q.Wait(); err == nil && sum[0] != 3*i || err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, mpi.ErrOther) {
				return fmt.Errorf("round %d: %d, %w", i, sum[0], err)
			}
			if i%4 == 0 {
				<-ended
			}
		}
		return nil
	})
}

// TestCollectiveIsCollectedOnce: a copy of a request whose collective was waited for is refused by every call, also when a later collective
// has taken the place of that one, which goes on.
func TestCollectiveIsCollectedOnce(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		wait := map[string]func(q *mpi.Request) error{
			"Wait":    func(q *mpi.Request) error { return second(q.Wait()) },
			"WaitAll": func(q *mpi.Request) error { return mpi.WaitAll([]mpi.Request{*q}, nil) },
			"WaitAny": func(q *mpi.Request) error { _, _, err := mpi.WaitAny([]mpi.Request{*q}); return err },
			"Test": func(q *mpi.Request) error {
				for {
					if _, done, err := q.Test(); done || err != nil {
						return err
					}
				}
			},
			"TestAll": func(q *mpi.Request) error {
				for {
					if done, err := mpi.TestAll([]mpi.Request{*q}, nil); done || err != nil {
						return err
					}
				}
			},
		}
		for _, first := range slices.Sorted(maps.Keys(wait)) {
			if c.Rank() == 1 { // so that the other's is not complete when it has begun
				if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
					return err
				}
			}
			q, err := c.Ibarrier()
			if err != nil {
				return err
			}
			stale := q
			if c.Rank() == 0 {
				err = mpi.Send(c, []byte{1}, 1, goTag)
			}
			if err := errors.Join(err, wait[first](&q)); err != nil {
				return fmt.Errorf("%s: %w", first, err)
			}
			sum := []int64{int64(c.Rank())}
			later, err := mpi.Iallreduce(c, sum, sum, mpi.Sum)
			if err != nil {
				return err
			}
			if c.Rank() == 0 {
				for name, again := range wait {
					q := stale
					if err := wantError(again(&q), mpi.ErrRequest, 0); err != nil {
						return fmt.Errorf("%s after %s: %w", name, first, err)
					}
				}
				if err := wantError(stale.Free(), mpi.ErrRequest, 0); err != nil {
					return fmt.Errorf("Free after %s: %w", first, err)
				}
			}
			if err := errors.Join(second(later.Wait()), same(sum, []int64{1})); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestCollectiveThatIsTestedAndWaitedFor: a collective may be tested, waited for in vain, and tested again, and be waited for with others.
func TestCollectiveThatIsTestedAndWaitedFor(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		for range 20 {
			sums := make([][]int64, 3)
			reqs := make([]mpi.Request, 3)
			if c.Rank() == 1 {
				if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
					return err
				}
			}
			for i := range reqs {
				sums[i] = []int64{int64(c.Rank() + i)}
				var err error
				if reqs[i], err = mpi.Iallreduce(c, sums[i], sums[i], mpi.Sum); err != nil {
					return err
				}
			}
			if c.Rank() == 0 {
				for _, wait := range []func() error{
					func() error { _, err := reqs[0].WaitContext(endedContext()); return err },
					func() error { _, _, err := reqs[0].Test(); return err },
					func() error { _, _, err := reqs[1].Test(); return err },
				} {
					if err := wait(); err != nil && !errors.Is(err, context.Canceled) {
						return err
					}
				}
				if reqs[0].Empty() || reqs[1].Empty() {
					return errors.New("a collective has ended that rank 1 has not begun")
				}
				if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
					return err
				}
				for done := false; !done; {
					var err error
					if _, done, err = reqs[0].Test(); err != nil {
						return err
					}
				}
			}
			if err := errors.Join(mpi.WaitAll(reqs, nil), same(sums[0], []int64{1}), same(sums[1], []int64{3}), same(sums[2], []int64{5})); err != nil {
				return err
			}
		}
		return nil
	})
}
