package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mpi"
)

// underContexts are calls of rank 0 that wait for rank 1 until a context ends, and what they are in a report.
var underContexts = map[string]struct {
	call func(ctx context.Context, c *mpi.Comm, w *mpi.Win[int32]) error
	says string
}{
	"Recv": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		return second(mpi.Recv(c.WithContext(ctx), one(), 1, 1))
	}, "Recv"},
	"Ssend": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		return mpi.Ssend(c.WithContext(ctx), one(), 1, 1)
	}, "Ssend"},
	"Probe": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		return second(c.WithContext(ctx).Probe(1, 1))
	}, "Probe"},
	"Wait": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		q, err := mpi.Irecv(c.WithContext(ctx), one(), 1, 1)
		if err != nil {
			return err
		}
		_, err = q.Wait()
		return errors.Join(err, q.Cancel())
	}, "Irecv"},
	"WaitAny": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		q, err := mpi.Irecv(c.WithContext(ctx), one(), 1, 1)
		if err != nil {
			return err
		}
		_, _, err = mpi.WaitAny([]mpi.Request{q})
		return errors.Join(err, q.Cancel())
	}, "WaitAny"},
	"WaitContext": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		q, err := mpi.Irecv(c, one(), 1, 1)
		if err != nil {
			return err
		}
		_, err = q.WaitContext(ctx)
		return errors.Join(err, q.Cancel())
	}, "Irecv"},
	"WaitContext of a collective": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		q, err := c.Ibarrier()
		if err != nil {
			return err
		}
		_, err = q.WaitContext(ctx)
		return errors.Join(err, mpi.Send(c, one(), 1, 9), second(q.Wait()))
	}, "Ibarrier"},
	"Barrier": {func(ctx context.Context, c *mpi.Comm, _ *mpi.Win[int32]) error {
		return c.WithContext(ctx).Barrier()
	}, "Barrier"},
	"Lock": {func(ctx context.Context, _ *mpi.Comm, w *mpi.Win[int32]) error {
		return w.WithContext(ctx).Lock(1, true)
	}, "Win.Lock"},
}

// TestNoDeadlockUnderContexts: a wait that a context may end is not stuck for certain, nor is who waits for that rank.
func TestNoDeadlockUnderContexts(t *testing.T) {
	unchecked(t)
	for name, x := range underContexts {
		t.Run(name, func(t *testing.T) {
			overMany(t, 2, func(c *mpi.Comm) error {
				w, err := mpi.WinAllocate[int32](c, 1)
				if err != nil {
					return err
				}
				if c.Rank() == 1 {
					err := errors.Join(w.Lock(1, true), mpi.Send(c, one(), 0, 8), second(mpi.Recv(c, one(), 0, 9)), w.Unlock(1))
					switch name {
					case "Ssend":
						err = errors.Join(err, second(mpi.Recv(c, one(), 0, 1)))
					case "Barrier", "WaitContext of a collective":
						_ = c.Barrier() // it was given up at the other rank, or is right
					}
					return errors.Join(err, w.Free())
				}
				if _, err := mpi.Recv(c, one(), 1, 8); err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- x.call(ctx, c, w) }()
				r, err := report(c, "possible deadlock (unless a context ends a wait): rank 0 waits for rank 1 in "+x.says)
				cancel()
				if ended := <-done; !errors.Is(ended, context.Canceled) {
					return fmt.Errorf("the call has returned %v", ended)
				}
				if name != "WaitContext of a collective" {
					err = errors.Join(err, mpi.Send(c, one(), 1, 9))
				}
				if err == nil && (r.Deadlock || strings.Contains(r.Text, "\ndeadlock")) {
					err = errors.New(r.Text)
				}
				return errors.Join(err, w.Free())
			})
		})
	}
}
