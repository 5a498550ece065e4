package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gomx/mpi"
)

// waitsForCancelled are the ways to complete a receive that another goroutine takes back.
var waitsForCancelled = map[string]func(reqs []mpi.Request) (mpi.Status, error){
	"Wait":        func(reqs []mpi.Request) (mpi.Status, error) { return reqs[0].Wait() },
	"WaitContext": func(reqs []mpi.Request) (mpi.Status, error) { return reqs[0].WaitContext(context.Background()) },
	"Test": func(reqs []mpi.Request) (st mpi.Status, err error) {
		for done := false; !done && err == nil; {
			st, done, err = reqs[0].Test()
		}
		return st, err
	},
	"WaitAny": func(reqs []mpi.Request) (mpi.Status, error) {
		_, st, err := mpi.WaitAny(reqs)
		return st, err
	},
	"WaitSome": func(reqs []mpi.Request) (mpi.Status, error) {
		done, err := mpi.WaitSome(reqs, nil)
		return append(done, mpi.Completion{})[0].Status, err
	},
	"WaitAll": func(reqs []mpi.Request) (mpi.Status, error) {
		sts := make([]mpi.Status, len(reqs))
		err := mpi.WaitAll(reqs, sts)
		return sts[0], err
	},
	"TestAll": func(reqs []mpi.Request) (mpi.Status, error) {
		sts := make([]mpi.Status, len(reqs))
		for {
			if done, err := mpi.TestAll(reqs, sts); done || err != nil {
				return sts[0], err
			}
		}
	},
}

// TestCancelBesideAWait: a receive that one goroutine waits for, and another takes back by a copy of the request, is cancelled
// however it is waited for.
func TestCancelBesideAWait(t *testing.T) {
	const times = 20
	for _, way := range slices.Sorted(maps.Keys(waitsForCancelled)) {
		t.Run(way, func(t *testing.T) {
			world(t, 1, func(c *mpi.Comm) error {
				for i := range times {
					source := []int{0, mpi.AnySource}[i%2]
					q, err := mpi.Irecv(c, one(), source, 4)
					if err != nil {
						return err
					}
					reqs := []mpi.Request{q}
					started, cancelled := make(chan struct{}), make(chan error, 1)
					go func() {
						<-started
						cancelled <- q.Cancel()
					}()
					close(started)
					st, err := waitsForCancelled[way](reqs)
					if err := errors.Join(err, <-cancelled); err != nil {
						return err
					}
					if !st.Cancelled || !reqs[0].Empty() {
						return fmt.Errorf("status %+v, empty %v", st, reqs[0].Empty())
					}
					if err := wantError(q.Cancel(), mpi.ErrRequest, 0); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// TestCancelTwice: a receive that was cancelled stays so until it is waited for, or freed.
func TestCancelTwice(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		end := map[string]func(q *mpi.Request) error{
			"Free": (*mpi.Request).Free,
			"Wait": func(q *mpi.Request) error {
				ended, cancel := context.WithCancel(context.Background())
				cancel()
				if st, err := q.WaitContext(ended); err != nil || !st.Cancelled {
					return fmt.Errorf("%+v, %w", st, err)
				}
				return nil
			},
		}
		for name, end := range end {
			q, err := mpi.Irecv(c, one(), 0, 4)
			err = errors.Join(err, q.Cancel(), q.Cancel())
			if err != nil || q.Empty() {
				return fmt.Errorf("%s: empty %v, %w", name, q.Empty(), err)
			}
			if err := end(&q); err != nil || !q.Empty() {
				return fmt.Errorf("%s: empty %v, %w", name, q.Empty(), err)
			}
		}
		return nil
	})
}

// TestStartAfterCancel: a persistent receive is not started again before its last request was waited for, or freed, be it cancelled or not.
func TestStartAfterCancel(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		p, err := mpi.RecvInit(c, one(), 0, 4)
		if err != nil {
			return err
		}
		for _, end := range []func(q *mpi.Request) error{func(q *mpi.Request) error { return second(q.Wait()) }, (*mpi.Request).Free} {
			q, err := p.Start()
			if err := errors.Join(err, q.Cancel()); err != nil {
				return err
			}
			if err := wantError(second(p.Start()), mpi.ErrRequest, 0); err != nil {
				return err
			}
			if err := end(&q); err != nil {
				return err
			}
		}
		q, err := p.Start()
		if err := errors.Join(err, q.Free()); err != nil {
			return err
		}
		q, err = p.Start()
		return errors.Join(err, q.Cancel(), second(q.Wait()))
	})
}

// TestCancelOfOthers names what it was given, as far as that is known.
func TestCancelOfOthers(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			for tag := 1; tag <= 2; tag++ {
				if _, err := mpi.Recv(c, one(), 0, tag); err != nil {
					return err
				}
			}
			q, err := c.Ibarrier()
			return errors.Join(err, second(q.Wait()))
		}
		own, err := c.Self().Ibarrier()
		if err != nil {
			return err
		}
		sent, err := mpi.Issend(c, one(), 1, 1)
		if err != nil {
			return err
		}
		var asked [3]error
		asked[0], asked[1] = own.Cancel(), sent.Cancel()
		again := sent
		met, err := c.Ibarrier()
		if err != nil {
			return err
		}
		asked[2] = met.Cancel()
		if err := mpi.Send(c, one(), 1, 2); err != nil {
			return err
		}
		for i, want := range []string{"this is a send or a collective that is complete", "this is a send", `this is "Ibarrier"`} {
			if err := asked[i]; !errors.Is(err, mpi.ErrRequest) || !strings.HasSuffix(err.Error(), want) {
				return fmt.Errorf("Cancel: %w, want %q", err, want)
			}
		}
		if err := errors.Join(second(own.Wait()), second(sent.Wait()), second(met.Wait())); err != nil {
			return err
		}
		_, err = again.Wait()
		if !errors.Is(err, mpi.ErrRequest) || !strings.Contains(err.Error(), "waited for or freed already, by another copy of the request") {
			return fmt.Errorf("Wait for a copy of one that was waited for: %w", err)
		}
		return nil
	})
}
