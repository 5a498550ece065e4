package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gomx/mpi"
)

// TestSendModes: each mode brings the messages of all sizes, in order.
func TestSendModes(t *testing.T) {
	modes := []func(c *mpi.Comm, buf []int32, dest, tag int) error{
		mpi.Send[int32], mpi.Ssend[int32], mpi.Bsend[int32], mpi.Rsend[int32],
		waiting(mpi.Isend[int32]), waiting(mpi.Issend[int32]), waiting(mpi.Ibsend[int32]), waiting(mpi.Irsend[int32]),
	}
	over(t, 2, func(c *mpi.Comm) error {
		for _, send := range modes {
			for tag, size := range sizes {
				if c.Rank() == 0 {
					if err := send(c, pattern(size, tag), 1, tag); err != nil {
						return err
					}
					continue
				}
				in := make([]int32, size+1)
				st, err := mpi.Recv(c, in, 0, tag)
				if err != nil || st.Count != size {
					return fmt.Errorf("%d elements: %+v, %w", size, st, err)
				}
				if err := same(in[:size], pattern(size, tag)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func waiting(isend func(c *mpi.Comm, buf []int32, dest, tag int) (mpi.Request, error)) func(c *mpi.Comm, buf []int32, dest, tag int) error {
	return func(c *mpi.Comm, buf []int32, dest, tag int) error {
		q, err := isend(c, buf, dest, tag)
		if err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	}
}

// TestSsendWaits: a synchronous send is not complete before its receive is posted, a buffered one at once.
func TestSsendWaits(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		big, small := make([]int64, 50_000), []int64{1}
		if c.Rank() == 1 {
			for range 2 {
				if _, err := mpi.Recv(c, small, 0, 9); err != nil { // the sends have been started
					return err
				}
			}
			for tag := range 4 {
				if _, err := mpi.Recv(c, big, 0, tag); err != nil {
					return err
				}
			}
			return nil
		}
		var reqs []mpi.Request
		for tag, buf := range [][]int64{small, big} {
			q, err := mpi.Issend(c, buf, 1, tag)
			if err != nil {
				return err
			}
			reqs = append(reqs, q)
		}
		for tag, buf := range [][]int64{small, big} {
			if err := mpi.Bsend(c, buf, 1, 2+tag); err != nil {
				return err
			}
		}
		if err := mpi.Send(c, small, 1, 9); err != nil {
			return err
		}
		for i := range reqs {
			if _, done, err := reqs[i].Test(); done || err != nil {
				return fmt.Errorf("synchronous send %d is complete without a receive, %w", i, err)
			}
		}
		if all, err := mpi.TestAll(reqs, nil); all || err != nil {
			return fmt.Errorf("both are, %w", err)
		}
		if err := mpi.Send(c, small, 1, 9); err != nil {
			return err
		}
		return mpi.WaitAll(reqs, nil)
	})
}

// TestSendSelf: a rank sends to itself, in each mode.
func TestSendSelf(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		for tag, size := range sizes {
			in, in2 := make([]int32, size), make([]int32, size)
			q, err := mpi.Irecv(c, in, c.Rank(), tag)
			if err != nil {
				return err
			}
			if err := mpi.Ssend(c, pattern(size, 3), c.Rank(), tag); err != nil {
				return err
			}
			if _, err := q.Wait(); err != nil {
				return err
			}
			if err := mpi.Bsend(c.Self(), pattern(size, 4), 0, tag); err != nil {
				return err
			}
			if _, err := mpi.Recv(c.Self(), in2, 0, tag); err != nil {
				return err
			}
			if q, err = mpi.Isend(c, in, c.Rank(), tag); err != nil {
				return err
			}
			in = make([]int32, size)
			if _, err := mpi.Recv(c, in, c.Rank(), tag); err != nil {
				return err
			}
			if _, err := q.Wait(); err != nil {
				return err
			}
			if err := errors.Join(same(in, pattern(size, 3)), same(in2, pattern(size, 4))); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestSendrecv: all exchange with both neighbours at once, with one buffer and with two.
func TestSendrecv(t *testing.T) {
	unchecked(t)
	for _, n := range []int{1, 2, 5} {
		over(t, n, func(c *mpi.Comm) error {
			next, before := (c.Rank()+1)%n, (c.Rank()+n-1)%n
			for tag, size := range sizes {
				in := make([]int32, size)
				st, err := mpi.Sendrecv(c, pattern(size, c.Rank()), next, tag, in, before, tag)
				if err != nil || st.Source != before || st.Count != size {
					return fmt.Errorf("%+v, %w", st, err)
				}
				if err := same(in, pattern(size, before)); err != nil {
					return err
				}
				if st, err = mpi.SendrecvReplace(c, in, before, tag, next, mpi.AnyTag); err != nil || st.Tag != tag {
					return fmt.Errorf("%+v, %w", st, err)
				}
				if err := same(in, pattern(size, c.Rank())); err != nil {
					return err
				}
			}
			_, err := mpi.Sendrecv(c, make([]byte, 8), next, 0, []int(nil), before, 0)
			if n > 0 && !errors.Is(err, mpi.ErrTruncate) {
				return fmt.Errorf("a longer message: %v", err)
			}
			buf := make([]byte, 8)
			_, err = mpi.Sendrecv(c, buf[:5], next, 0, buf[4:], before, 0)
			return wantError(err, mpi.ErrArg, c.Rank())
		})
	}
}

// TestProcNull: what goes to nobody is gone, and what comes from nobody is empty.
func TestProcNull(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		buf := []int32{7}
		if err := mpi.Ssend(c, buf, mpi.ProcNull, 3); err != nil {
			return err
		}
		st, err := mpi.Recv(c, buf, mpi.ProcNull, 3)
		if err != nil || st.Source != mpi.ProcNull || st.Tag != mpi.AnyTag || st.Count != 0 || buf[0] != 7 {
			return fmt.Errorf("received %+v, %w", st, err)
		}
		if st, err = c.Probe(mpi.ProcNull, 3); err != nil || st.Source != mpi.ProcNull {
			return fmt.Errorf("probed %+v, %w", st, err)
		}
		m, _, err := c.Mprobe(mpi.ProcNull, 3)
		if err != nil {
			return err
		}
		if st, err = mpi.Mrecv(m, buf); err != nil || st.Source != mpi.ProcNull {
			return fmt.Errorf("received %+v, %w", st, err)
		}
		q, err := mpi.Irecv(c, buf, mpi.ProcNull, 0)
		if err != nil {
			return err
		}
		if st, done, err := q.Test(); !done || err != nil || st.Source != mpi.ProcNull {
			return fmt.Errorf("tested %+v, %w", st, err)
		}
		return nil
	})
}

// TestContext: a context ends what blocks, and what blocked leaves nothing behind.
func TestContext(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stopped := c.WithContext(ctx)
		other := 1 - c.Rank()
		buf, late := []int32{0}, []int32{0}
		q, err := mpi.Irecv(stopped, late, other, 2)
		if err != nil {
			return err
		}
		time.AfterFunc(time.Millisecond, cancel)
		for _, source := range []int{other, mpi.AnySource} {
			if _, err := mpi.Recv(stopped, buf, source, 8); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("receive from %d: %v", source, err)
			}
			if _, err := stopped.Probe(source, 8); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("probe of %d: %v", source, err)
			}
		}
		if err := mpi.Ssend(stopped, buf, c.Rank(), 3); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("synchronous send: %v", err)
		}
		if _, err := mpi.Recv(c, buf, c.Rank(), 3); err != nil {
			return err
		}
		if _, err := q.Wait(); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("wait: %v", err)
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := mpi.Send(c, []int32{5}, other, 1); err != nil {
			return err
		}
		if err := mpi.Send(c, []int32{6}, other, 2); err != nil {
			return err
		}
		if _, err := mpi.Recv(c, buf, other, 1); err != nil || buf[0] != 5 {
			return fmt.Errorf("a later receive got %v, %w", buf, err)
		}
		all := []mpi.Request{q}
		for done := false; !done; {
			if done, err = mpi.TestAll(all, nil); err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
		}
		if late[0] != 6 {
			return fmt.Errorf("the request whose wait was ended got %v", late)
		}
		return nil
	})
}

// TestSenderIsNotToldOfTruncation: a receive that is too short fails, and the send that it has matched does not, in whichever mode.
func TestSenderIsNotToldOfTruncation(t *testing.T) {
	modes := []func(c *mpi.Comm, buf []int32, dest, tag int) error{
		mpi.Send[int32], mpi.Ssend[int32], mpi.Bsend[int32], waiting(mpi.Isend[int32]), waiting(mpi.Issend[int32]), throughAll(mpi.Issend[int32]),
	}
	over(t, 2, func(c *mpi.Comm) error {
		for tag, send := range modes {
			for _, size := range []int{1, 1000, 100_000} {
				if c.Rank() == 0 {
					if err := send(c, pattern(size, tag), 1, tag); err != nil {
						return fmt.Errorf("mode %d, %d elements: the send says %w", tag, size, err)
					}
					continue
				}
				in := make([]int32, size/2)
				if _, err := mpi.Recv(c, in, 0, tag); !errors.Is(err, mpi.ErrTruncate) {
					return fmt.Errorf("mode %d, %d elements: the receive says %v", tag, size, err)
				}
				if err := same(in, pattern(size, tag)[:size/2]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// throughAll waits for a request by WaitAll.
func throughAll(isend func(c *mpi.Comm, buf []int32, dest, tag int) (mpi.Request, error)) func(c *mpi.Comm, buf []int32, dest, tag int) error {
	return func(c *mpi.Comm, buf []int32, dest, tag int) error {
		q, err := isend(c, buf, dest, tag)
		if err != nil {
			return err
		}
		return mpi.WaitAll([]mpi.Request{q}, nil)
	}
}

// TestFirstMessageThatWasNotStarted: the first message to a rank waits until the two are connected. A context that ends before has it not sent, which the
// error tells from one that goes on.
func TestFirstMessageThatWasNotStarted(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	modes := []func(c *mpi.Comm, buf []int32, dest, tag int) error{
		mpi.Send[int32], mpi.Ssend[int32], mpi.Bsend[int32], waiting(mpi.Isend[int32]),
	}
	// firsts has for each of the other ranks what comes to it first. Before it is known they receive nothing: that would connect, too.
	firsts := []chan int32{make(chan int32, 1), make(chan int32, 1), make(chan int32, 1), make(chan int32, 1)}
	over(t, 1+len(modes), func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			return sendsNotBegun(c, modes, firsts, ended)
		}
		want := <-firsts[c.Rank()-1]
		for got := make([]int32, 1); ; want = 42 {
			if _, err := mpi.Recv(c, got, 0, 5); err != nil || got[0] != want {
				return fmt.Errorf("%d comes, not %d, %w", got[0], want, err)
			}
			if want == 42 {
				return nil
			}
		}
	})
}

// sendsNotBegun sends 7 to each of the other ranks in another way, with a context that has ended, and then 42. A rank that answers the connect at once may get
// the first of them all the same.
func sendsNotBegun(c *mpi.Comm, modes []func(c *mpi.Comm, buf []int32, dest, tag int) error, firsts []chan int32, ended context.Context) (failed error) {
	late := c.WithContext(ended)
	for i, send := range modes {
		err := send(late, []int32{7}, 1+i, 5)
		givenUp := errors.Is(err, mpi.ErrGivenUp) && errors.Is(err, context.Canceled)
		first := int32(7)
		switch {
		case givenUp && errors.Is(err, mpi.ErrNotBegun):
			first = 42
		case err != nil && !givenUp:
			failed = errors.Join(failed, fmt.Errorf("mode %d: %w", i, err))
		}
		failed = errors.Join(failed, mpi.Send(c, []int32{42}, 1+i, 5))
		firsts[i] <- first
	}
	return failed
}

// TestFirstCollectiveThatWasGivenUp: a collective that is given up before the ranks are connected counts as called, and does not say that
// nothing was started.
func TestFirstCollectiveThatWasGivenUp(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		with := c
		if c.Rank() == 0 {
			with = c.WithContext(endedContext())
		}
		err := mpi.Bcast(with, []int32{7}, 0)
		if err == nil || c.Rank() == 0 && (!errors.Is(err, mpi.ErrGivenUp) || errors.Is(err, mpi.ErrNotBegun)) {
			return fmt.Errorf("rank %d: Bcast has ended with %w", c.Rank(), err)
		}
		return sum(c)
	})
}

// TestWaitNamesTheCall: the error of a wait names the call that has started what it waits for.
func TestWaitNamesTheCall(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return errors.Join(c.Barrier(), second(mpi.Recv(c, make([]byte, 1), 0, 5)))
		}
		q, err := mpi.Issend(c, make([]byte, 1), 1, 5)
		if err != nil {
			return err
		}
		p, err := mpi.RecvInit(c, make([]byte, 1), 1, 6)
		if err != nil {
			return err
		}
		r, err := p.Start()
		if err != nil {
			return err
		}
		for name, q := range map[string]*mpi.Request{"Issend": &q, "RecvInit": &r} {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			_, late := q.WaitContext(ctx)
			cancel()
			if late == nil || !strings.Contains(late.Error(), "mpi: "+name+" on") {
				err = errors.Join(err, fmt.Errorf("the wait for %s has ended with %w", name, late))
			}
		}
		return errors.Join(err, r.Cancel(), second(r.Wait()), c.Barrier(), second(q.Wait()))
	})
}
