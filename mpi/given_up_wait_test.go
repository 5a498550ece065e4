package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mpi"
)

// nobodys is the context of a wait that nothing ends but what it waits for.
var nobodys context.Context

// TestCollectiveThatItsContextEnds: a collective that was started fails with its context. Whoever waits for it learns that once, and the
// request is empty then; what it was given up for is no success of a later call.
func TestCollectiveThatItsContextEnds(t *testing.T) {
	for name, wait := range map[string]func(q *mpi.Request) (mpi.Status, error){
		"Wait":        func(q *mpi.Request) (mpi.Status, error) { return q.Wait() },
		"WaitContext": func(q *mpi.Request) (mpi.Status, error) { return q.WaitContext(nobodys) },
		"Test": func(q *mpi.Request) (mpi.Status, error) {
			for {
				if st, done, err := q.Test(); done || err != nil {
					return st, err
				}
			}
		},
		"WaitAll": func(q *mpi.Request) (mpi.Status, error) { return waitOne(q, mpi.WaitAll) },
		"TestAll": func(q *mpi.Request) (mpi.Status, error) {
			return waitOne(q, func(reqs []mpi.Request, sts []mpi.Status) error {
				for {
					if done, err := mpi.TestAll(reqs, sts); done || err != nil {
						return err
					}
				}
			})
		},
		"WaitAny": func(q *mpi.Request) (mpi.Status, error) {
			return waitOne(q, func(reqs []mpi.Request, sts []mpi.Status) (err error) {
				_, sts[0], err = mpi.WaitAny(reqs)
				return err
			})
		},
		"WaitSome": func(q *mpi.Request) (mpi.Status, error) {
			return waitOne(q, func(reqs []mpi.Request, sts []mpi.Status) error {
				done, err := mpi.WaitSome(reqs, nil)
				for _, c := range done {
					sts[c.Index] = c.Status
				}
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			over(t, 2, func(c *mpi.Comm) error {
				if c.Rank() == 1 {
					if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
						return err
					}
					for range 2 {
						_ = sum(c) // it is right, or names the rank that has given it up
					}
					return sum(c)
				}
				for _, startedBefore := range []bool{true, false} {
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					if !startedBefore {
						cancel()
					}
					q, err := mpi.Iallreduce(c.WithContext(ctx), []int64{1}, []int64{0}, mpi.Sum)
					if err != nil {
						return err
					}
					cancel()
					st, err := wait(&q)
					switch {
					case !errors.Is(err, context.Canceled) || !errors.Is(err, mpi.ErrGivenUp) || !errors.Is(err, mpi.ErrOther):
						return fmt.Errorf("error %v, want that of the context, which has ended the operation", err)
					case !q.Empty():
						return errors.New("the operation is over, and its request is not empty")
					case !errors.Is(st.Err, mpi.ErrGivenUp):
						return fmt.Errorf("status %+v, want the error of the operation", st)
					case !strings.HasPrefix(err.Error(), "mpi: Iallreduce on world, rank 0"):
						return fmt.Errorf("error %q does not name the call", err)
					}
				}
				return errors.Join(mpi.Send(c, []byte{1}, 1, goTag), sum(c))
			})
		})
	}
}

func waitOne(q *mpi.Request, all func(reqs []mpi.Request, sts []mpi.Status) error) (mpi.Status, error) {
	reqs, sts := []mpi.Request{*q}, make([]mpi.Status, 1)
	err := all(reqs, sts)
	*q = reqs[0]
	return sts[0], err
}

// TestWaitThatItsContextEnds: a request whose wait was given up is there still, and may be waited for without that context.
func TestWaitThatItsContextEnds(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			if _, err := mpi.Recv(c, make([]byte, 1), 0, goTag); err != nil {
				return err
			}
			return errors.Join(mpi.Send(c, []int64{7}, 0, 1), sum(c))
		}
		ended := endedContext()
		in := []int64{0}
		q, err := mpi.Irecv(c, in, 1, 1)
		if err != nil {
			return err
		}
		k, err := mpi.Iallreduce(c, []int64{1}, []int64{0}, mpi.Sum)
		if err != nil {
			return err
		}
		stays := func(q *mpi.Request, err error) error {
			if !errors.Is(err, context.Canceled) || errors.Is(err, mpi.ErrGivenUp) || q.Empty() {
				return fmt.Errorf("error %v, empty %v: want that of the context, and the request", err, q.Empty())
			}
			return nil
		}
		for range 2 {
			_, err := q.WaitContext(ended)
			if err := stays(&q, err); err != nil {
				return err
			}
			_, err = k.WaitContext(ended) // the collective goes on
			if err := stays(&k, err); err != nil {
				return err
			}
		}
		with, err := mpi.Irecv(c.WithContext(ended), in, 1, 1) // behind the other
		if err != nil {
			return err
		}
		for name, wait := range map[string]func(reqs []mpi.Request) error{
			"Wait":     func(reqs []mpi.Request) error { return second(reqs[0].Wait()) },
			"WaitAll":  func(reqs []mpi.Request) error { return mpi.WaitAll(reqs, nil) },
			"WaitAny":  func(reqs []mpi.Request) error { _, _, err := mpi.WaitAny(reqs); return err },
			"WaitSome": func(reqs []mpi.Request) error { return second(mpi.WaitSome(reqs, nil)) },
		} {
			reqs := []mpi.Request{with}
			if err := stays(&reqs[0], wait(reqs)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := with.Cancel(); err != nil {
			return err
		}
		if st, err := with.WaitContext(nobodys); err != nil || !st.Cancelled {
			return fmt.Errorf("a receive that was cancelled: %+v, %v", st, err)
		}
		if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
			return err
		}
		if st, err := q.WaitContext(nobodys); err != nil || st.Count != 1 || in[0] != 7 || !q.Empty() {
			return fmt.Errorf("waiting again: %+v, %v, %v", st, err, in)
		}
		if _, err := k.WaitContext(context.Background()); err != nil || !k.Empty() {
			return fmt.Errorf("waiting for the collective again: %v", err)
		}
		return nil
	})
}

// TestGivenUpSaysSo: the error of a call that its context has ended names the call and the peer, says what was given up, and what of the
// program's memory is in use.
func TestGivenUpSaysSo(t *testing.T) {
	const in = " (the buffer may still be in use)"
	for _, x := range []struct {
		name       string
		collective bool
		call       func(c *mpi.Comm) error
		want       string
	}{
		{"Recv", false, func(c *mpi.Comm) error { return second(mpi.Recv(c, make([]int64, 1), 1, 3)) },
			"mpi: Recv on world, rank 0, with rank 1, tag 3: gave up waiting: context canceled"},
		{"Send", false, func(c *mpi.Comm) error { return mpi.Send(c, make([]int64, long), 1, 3) },
			"mpi: Send on world, rank 0, with rank 1, tag 3: gave up waiting: context canceled" + in},
		{"Sendrecv", false, func(c *mpi.Comm) error {
			return second(mpi.Sendrecv(c, make([]int64, long), 1, 3, make([]int64, 1), 1, 4))
		}, "mpi: Sendrecv on world, rank 0, with rank 1, tag 3: gave up waiting: context canceled (the send buffer may still be in use)"},
		{"SendrecvReplace", false, func(c *mpi.Comm) error {
			return second(mpi.SendrecvReplace(c, make([]int64, long), 1, 3, 1, 4))
		}, "mpi: SendrecvReplace on world, rank 0, with rank 1, tag 4: gave up waiting: context canceled"},
		{"Probe", false, func(c *mpi.Comm) error { return second(c.Probe(1, 3)) },
			"mpi: Probe on world, rank 0, with rank 1, tag 3: gave up waiting: context canceled"},
		{"Allreduce", true, func(c *mpi.Comm) error { return mpi.Allreduce(c, []int64{1}, []int64{0}, mpi.Sum) },
			"mpi: Allreduce on world, rank 0, with rank 1: gave up waiting: context canceled (its buffers may still be in use)"},
		{"Barrier", true, func(c *mpi.Comm) error { return c.Barrier() },
			"mpi: Barrier on world, rank 0, with rank 1: gave up waiting: context canceled"},
		{"Dup", true, func(c *mpi.Comm) error { return second(c.Dup()) },
			"mpi: Dup on world, rank 0, with rank 1: gave up waiting: context canceled"},
		{"Wait", false, func(c *mpi.Comm) error {
			q, err := mpi.Irecv(c, make([]int64, 1), 1, 3)
			if err != nil {
				return err
			}
			_, err = q.Wait()
			if free := q.Cancel(); free != nil {
				return free
			}
			return err
		}, "mpi: Irecv on world, rank 0, with rank 1, tag 3: stopped waiting: context canceled (the request stays)"},
	} {
		t.Run(x.name, func(t *testing.T) {
			world(t, 2, func(c *mpi.Comm) error {
				if err := c.Barrier(); err != nil { // they are connected
					return err
				}
				if c.Rank() == 1 {
					err := second(mpi.Recv(c, make([]byte, 1), 0, goTag))
					switch {
					case strings.HasPrefix(x.name, "Send"):
						err = errors.Join(err, second(mpi.Recv(c, make([]int64, long), 0, 3)))
					case x.collective:
						_ = x.call(c) // it is right, or names the rank that has given it up
					}
					return err
				}
				err := x.call(c.WithContext(endedContext()))
				if err := mpi.Send(c, []byte{1}, 1, goTag); err != nil {
					return err
				}
				if err == nil || err.Error() != x.want {
					return fmt.Errorf("error %v, want %q", err, x.want)
				}
				if given := errors.Is(err, mpi.ErrGivenUp); given == (x.name == "Wait") || !errors.Is(err, context.Canceled) {
					return fmt.Errorf("error %q: the operation is given up: %v", err, given)
				}
				return nil
			})
		})
	}
}

// TestContextGoesOver: a communicator that is made of one with a context has the same.
func TestContextGoesOver(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		with := c.WithContext(ctx)
		dup, dupErr := with.Dup()
		split, splitErr := with.Split(0, 0)
		cart, cartErr := with.Cart([]int{1}, []bool{false}, false)
		if err := errors.Join(dupErr, splitErr, cartErr); err != nil {
			return err
		}
		cancel()
		for _, d := range []*mpi.Comm{dup, split, cart.Comm, with.Self()} {
			if _, err := mpi.Recv(d, make([]byte, 1), 0, 1); !errors.Is(err, mpi.ErrGivenUp) {
				return fmt.Errorf("a receive on %s: %v", d.Name(), err)
			}
		}
		return nil
	})
}

// TestLockThatItsContextEnds: calls on a window carry the mark too.
func TestLockThatItsContextEnds(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			err = w.Lock(0, true)
		}
		if err := errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 1 {
			if err := w.WithContext(endedContext()).Lock(0, true); !errors.Is(err, mpi.ErrGivenUp) || !errors.Is(err, context.Canceled) {
				return fmt.Errorf("a lock that another rank holds: %v", err)
			}
		}
		err = c.Barrier()
		if c.Rank() == 0 {
			err = errors.Join(err, w.Unlock(0))
		}
		return errors.Join(err, w.Free())
	})
}
