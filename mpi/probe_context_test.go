package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestIprobeUnderAnEndedContext: a context ends waits, and Iprobe and Improbe wait for nothing.
func TestIprobeUnderAnEndedContext(t *testing.T) {
	over(t, 2, func(c *mpi.Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		ended := c.WithContext(ctx)
		if c.Rank() == 1 {
			return errors.Join(mpi.Send(c, []byte{1}, 0, 3), c.Barrier(), c.Barrier())
		}
		if _, found, err := ended.Iprobe(1, 4); found || err != nil {
			return fmt.Errorf("Iprobe: %v, %w", found, err)
		}
		if _, _, found, err := ended.Improbe(mpi.AnySource, 4); found || err != nil {
			return fmt.Errorf("Improbe: %v, %w", found, err)
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if _, err := c.Probe(1, 3); err != nil {
			return err
		}
		m, _, found, err := ended.Improbe(1, 3)
		if !found || err != nil {
			return fmt.Errorf("Improbe of a message that is there: %v, %w", found, err)
		}
		_, err = mpi.Mrecv(m, make([]byte, 1))
		return errors.Join(err, c.Barrier())
	})
}

// TestProbeHeedsItsContext at once: were it looked at ten times a second only, this would take minutes.
func TestProbeHeedsItsContext(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	world(t, 1, func(c *mpi.Comm) error {
		for range 1000 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			_, err := c.WithContext(ctx).Probe(mpi.AnySource, 4)
			if cancel(); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("probe: %w", err)
			}
		}
		return nil
	})
}

// TestProbeThatIsCancelledAtALook: Probe looks ten times a second whether a rank has failed. A context that ends at that moment ends it as at any other.
func TestProbeThatIsCancelledAtALook(t *testing.T) {
	testlength.Long(t)
	world(t, 1, func(c *mpi.Comm) error {
		cause := errors.New("enough")
		var probes sync.WaitGroup
		wrong := make(chan error, 200)
		for i := range cap(wrong) {
			probes.Go(func() {
				ctx, cancel := context.WithCancelCause(context.Background())
				defer time.AfterFunc(100*time.Millisecond+time.Duration(i-100)*10*time.Microsecond, func() { cancel(cause) }).Stop()
				if _, err := c.WithContext(ctx).Probe(mpi.AnySource, 4); !errors.Is(err, mpi.ErrGivenUp) || !errors.Is(err, context.Canceled) {
					wrong <- err
				}
			})
		}
		probes.Wait()
		select {
		case err := <-wrong:
			return fmt.Errorf("%d of %d probes: %w", len(wrong)+1, cap(wrong), err)
		default:
			return nil
		}
	})
}

// listed is a context of the program's own, whose error can't be compared.
type listed struct {
	context.Context
	errs severalErrors
}

type severalErrors []error

func (severalErrors) Error() string { return "several errors" }

func (l listed) Err() error {
	if l.Context.Err() == nil {
		return nil
	}
	return l.errs
}

// TestContextOfTheProgramsOwn: the error of a call that a context has ended says so, whatever the context's own error is.
func TestContextOfTheProgramsOwn(t *testing.T) {
	unchecked(t)
	over(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return c.Barrier()
		}
		if err := mpi.Send(c, []byte{}, 0, 9); err != nil { // connected with itself
			return err
		}
		b := make([]byte, 1)
		for name, call := range map[string]func(c *mpi.Comm) error{
			"Recv":     func(c *mpi.Comm) error { return second(mpi.Recv(c, b, 1, 4)) },
			"Ssend":    func(c *mpi.Comm) error { return mpi.Ssend(c, b, 0, 4) },
			"Sendrecv": func(c *mpi.Comm) error { return second(mpi.Sendrecv(c, b, 0, 5, make([]byte, 1), 0, 6)) },
			"Probe":    func(c *mpi.Comm) error { return second(c.Probe(mpi.AnySource, 4+100)) },
			"WaitAny": func(c *mpi.Comm) error {
				q, err := mpi.Irecv(c, b, mpi.AnySource, 4+100)
				if err != nil {
					return err
				}
				_, _, err = mpi.WaitAny([]mpi.Request{q})
				if !errors.Is(err, mpi.ErrGivenUp) && strings.Contains(fmt.Sprint(err), "stopped waiting: several errors") {
					err = mpi.ErrGivenUp // the wait is over, and the request stays
				}
				return errors.Join(err, q.Cancel())
			},
		} {
			ctx, cancel := context.WithTimeout(context.Background(), bound/300)
			err := call(c.WithContext(listed{ctx, severalErrors{errors.New("one")}}))
			cancel()
			if _, its := errors.AsType[severalErrors](err); !its && name != "WaitAny" || !errors.Is(err, mpi.ErrGivenUp) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return c.Barrier()
	})
}
