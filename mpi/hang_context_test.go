package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// within are calls of two ranks that wait for each other until their context ends.
var within = []struct {
	name string
	says string // what the report says of the call of rank 0
	f    func(ctx context.Context, c *mpi.Comm, peer int) error
}{
	{"a receive", "Recv from rank 1, tag 5, world, 8 B", func(ctx context.Context, c *mpi.Comm, peer int) error {
		_, err := mpi.Recv(c.WithContext(ctx), make([]int64, 1), peer, 5)
		return endedBy(ctx, err)
	}},
	{"one receive of a cycle", "Recv from rank 1, tag 5, world, 8 B", func(ctx context.Context, c *mpi.Comm, peer int) error {
		if c.Rank() == 1 {
			_, err := mpi.Recv(c, make([]int64, 1), peer, 5)
			return err
		}
		_, err := mpi.Recv(c.WithContext(ctx), make([]int64, 1), peer, 5)
		return errors.Join(endedBy(ctx, err), mpi.Send(c, make([]int64, 1), peer, 5))
	}},
	{"a synchronous send", "Ssend to rank 1, tag 5, world, 8 B", func(ctx context.Context, c *mpi.Comm, peer int) error {
		return endedBy(ctx, mpi.Ssend(c.WithContext(ctx), make([]int64, 1), peer, 5))
	}},
	{"a probe", "Probe from rank 1, tag 5, world", func(ctx context.Context, c *mpi.Comm, peer int) error {
		_, err := c.WithContext(ctx).Probe(peer, 5)
		return endedBy(ctx, err)
	}},
	{"a wait with a context", "Irecv from rank 1, tag 5, world, 8 B", func(ctx context.Context, c *mpi.Comm, peer int) error {
		q, err := mpi.Irecv(c, make([]int64, 1), peer, 5)
		if err != nil {
			return err
		}
		_, err = q.WaitContext(ctx)
		return errors.Join(endedBy(ctx, err), q.Cancel())
	}},
	{"a wait for all", "Irecv from rank 1, tag 5, world, 8 B", func(ctx context.Context, c *mpi.Comm, peer int) error {
		q := make([]mpi.Request, 1)
		var err error
		if q[0], err = mpi.Irecv(c.WithContext(ctx), make([]int64, 1), peer, 5); err != nil {
			return err
		}
		return errors.Join(endedBy(ctx, mpi.WaitAll(q, nil)), q[0].Cancel())
	}},
	{"a wait for any", "WaitAny from rank 1, tag 5, world, 8 B", func(ctx context.Context, c *mpi.Comm, peer int) error {
		q := make([]mpi.Request, 1)
		var err error
		if q[0], err = mpi.Irecv(c.WithContext(ctx), make([]int64, 1), peer, 5); err != nil {
			return err
		}
		_, _, err = mpi.WaitAny(q)
		return errors.Join(endedBy(ctx, err), q[0].Cancel())
	}},
	{"a wait for a collective", "Ibarrier #1 of world", func(ctx context.Context, c *mpi.Comm, peer int) error {
		if c.Rank() == 1 {
			if _, err := mpi.Recv(c, make([]int64, 1), peer, 5); err != nil {
				return err
			}
		}
		q, err := c.Ibarrier()
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			_, err := q.WaitContext(ctx)
			if err := errors.Join(endedBy(ctx, err), mpi.Send(c, make([]int64, 1), peer, 5)); err != nil {
				return err
			}
		}
		_, err = q.Wait()
		return err
	}},
}

func endedBy(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("not ended by its context: %w", err)
	}
	return nil
}

// whileBlocked has two ranks wait for each other in a call, looks at that from rank 0, and then ends the context of the call.
func whileBlocked(t *testing.T, call func(ctx context.Context, c *mpi.Comm, peer int) error, look func(c *mpi.Comm) error, opts ...mpi.Option) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	world(t, 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return call(ctx, c, 0)
		}
		looked := make(chan error, 1)
		go func() {
			defer cancel()
			looked <- look(c)
		}()
		err := call(ctx, c, 1)
		return errors.Join(<-looked, err)
	}, opts...)
}

// TestReportOfContexts: calls that a context may end are no deadlock for certain.
func TestReportOfContexts(t *testing.T) {
	amongOthers(t)
	unchecked(t)
	for _, x := range within {
		for _, medium := range media {
			t.Run(x.name+"/"+medium, func(t *testing.T) {
				amongOthers(t)
				skipWithout(t, medium)
				whileBlocked(t, x.f, func(c *mpi.Comm) error {
					r, err := report(c, "possible deadlock (if no context ends a call): rank 0 waits for rank 1 in ", x.says, ", or until its context ends\n")
					if err == nil && r.Deadlock {
						err = errors.New(r.Text)
					}
					return err
				}, mpi.WithTransports(medium))
			})
		}
	}
}

// TestContextsEndBeforeTheJob: a job whose calls end by their contexts is not ended because they have waited for long.
func TestContextsEndBeforeTheJob(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	world(t, 2, func(c *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(t.Context(), 12*hangTimeout)
		defer cancel()
		_, err := mpi.Recv(c.WithContext(ctx), make([]int64, 1), 1-c.Rank(), 5)
		return endedBy(ctx, err)
	}, mpi.WithHangTimeout(hangTimeout))
}

// TestHangReportWithoutContext: nil is no context.
func TestHangReportWithoutContext(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		r, err := c.HangReport(noContext)
		if err == nil && r.Text == "" {
			err = errors.New("there is no report")
		}
		return err
	})
}

// TestFirstReportShowsEveryWait: what a call waits for is in the first report that is asked for, and that it has blocked for longer than is known.
func TestFirstReportShowsEveryWait(t *testing.T) {
	amongOthers(t)
	unchecked(t)
	for _, x := range within {
		t.Run(x.name, func(t *testing.T) {
			amongOthers(t)
			whileBlocked(t, x.f, func(c *mpi.Comm) error {
				time.Sleep(time.Second) // until both block, on a busy machine too
				r, err := c.HangReport(context.Background())
				if err == nil && (!strings.Contains(r.Text, x.says) || !strings.Contains(r.Text, ", for at least ") && x.name != "a probe") {
					err = errors.New(r.Text)
				}
				return err
			})
		})
	}
}

var noContext context.Context
