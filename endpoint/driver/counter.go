package driver

import (
	"context"
	"time"

	"gomx/endpoint"
)

// Counter is a completion counter of an endpoint. When a request that was added to it completes, the counter counts and releases it.
// Any number of goroutines may call its methods at once.
type Counter struct{ m member }

// NewCounter makes a counter.
func (d *Endpoint) NewCounter() (*Counter, error) {
	c := &Counter{member{d: d}}
	err := d.call(func(e *endpoint.Engine) error { c.m.id = e.OpenCounter(); return nil })
	return c, err
}

// Add adds n requests, of which at returns the i-th. Requests that are complete are counted at once. After an error none was
// added.
func (c *Counter) Add(n int, at func(i int) endpoint.Handle) error {
	return c.start(func(e *endpoint.Engine) error { return e.Count(c.m.id, n, at) })
}

// Send starts a send that the counter counts, and notes that in the options, which are not nil.
func (c *Counter) Send(o *endpoint.Outgoing, opts *endpoint.SendOptions) error {
	d, err := c.begin()
	if err != nil {
		return err
	}
	if d.timed {
		d.eng.TurnTo(o.Match)
	}
	opts.Counter = c.m.id
	_, err = d.eng.Send(o, opts)
	c.end()
	return err
}

// Recv posts a receive that the counter counts, and notes that in the options, which are not nil.
func (c *Counter) Recv(i *endpoint.Posting, opts *endpoint.RecvOptions) error {
	d, err := c.begin()
	if err != nil {
		return err
	}
	if d.timed {
		d.eng.TurnTo(i.Value)
	}
	opts.Counter = c.m.id
	_, err = d.eng.Recv(i, opts)
	c.end()
	return err
}

// CountPuts has the counter count the puts into a window.
func (c *Counter) CountPuts(window uint64) error {
	return c.call(func(e *endpoint.Engine) error {
		if !e.CountPuts(window, c.m.id) {
			return ErrNoWindow
		}
		return nil
	})
}

// Threshold makes a request that completes when the counter has reached count.
func (c *Counter) Threshold(count, match uint64, ctx any) (h endpoint.Handle, err error) {
	err = c.call(func(e *endpoint.Engine) error {
		h = e.Threshold(c.m.id, count, match, ctx)
		return nil
	})
	return h, err
}

// Value makes a pass, and returns the numbers of successes and failures.
func (c *Counter) Value() (successes, failures uint64, err error) {
	err = c.call(func(e *endpoint.Engine) error {
		c.m.d.once()
		if err := c.m.over(); err != nil {
			return err // closed during the pass
		}
		successes, failures = e.Counts(c.m.id)
		return nil
	})
	return successes, failures, err
}

// Wait waits until successes and failures together have reached count, and returns both numbers. If their sum is lower and there is no
// error, the timeout has passed or Wakeup was called. The error is ErrQueueClosed if the counter is closed.
func (c *Counter) Wait(ctx context.Context, count uint64, timeout time.Duration) (successes, failures uint64, err error) {
	var h endpoint.Handle
	err = c.call(func(e *endpoint.Engine) error {
		if successes, failures = e.Counts(c.m.id); successes+failures >= count {
			return nil
		}
		h = e.Threshold(c.m.id, count, 0, nil)
		return e.Enqueue(h, endpoint.Private)
	})
	if h == 0 || err != nil {
		return successes, failures, err
	}
	done, ended := c.reaches(ctx, h, timeout)
	err = c.call(func(e *endpoint.Engine) error {
		successes, failures = e.Counts(c.m.id)
		return nil
	})
	if err == nil && !done && successes+failures < count {
		err = ended
	}
	return successes, failures, err
}

// reaches waits for a threshold, which is gone afterwards, also if a handler's panic ends the wait.
func (c *Counter) reaches(ctx context.Context, threshold endpoint.Handle, timeout time.Duration) (done bool, ended error) {
	var st endpoint.Status
	defer func() {
		if !done {
			_ = c.m.d.call(func(e *endpoint.Engine) error {
				if cancelled, _ := e.Cancel(threshold); !cancelled {
					_, _ = e.Test(threshold, &st) // it has just completed
				}
				return nil
			})
		}
	}()
	return c.m.d.Wait(ctx, threshold, timeout, &st)
}

// Number returns the number of the counter among those of its endpoint that are open.
func (c *Counter) Number() int { return int(c.m.id) }

// Close releases the counter. Requests that it has not counted yet are forgotten. A second Close does nothing.
func (c *Counter) Close() {
	d := c.m.d
	d.lockForeign()
	defer d.unlock()
	if c.m.over() == nil {
		d.eng.CloseQueue(c.m.id)
		d.after()
	}
	c.m.closed = true
}

// call runs f with the lock held, if the counter is open.
func (c *Counter) call(f func(*endpoint.Engine) error) error {
	return c.m.d.call(func(e *endpoint.Engine) error {
		if err := c.m.over(); err != nil {
			return err
		}
		return f(e)
	})
}
