//go:build linux

package processes_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"gomx/mx"
)

// blocking is a call that waits until there is what it is for, or something ends it.
type blocking struct {
	name string // of the method
	note string

	timed, contextual bool  // it takes a time, a context
	late              error // what it returns when the time has passed; nil: no error and no result
	woken             error // and when Wakeup is called
	silent            bool  // it has no errors at all

	// call reports whether the call has found something.
	call func(s *scene, ctx context.Context, timeout time.Duration) (done bool, err error)
}

// ofOne makes a call for one request a row of the table twice: alone for a request whose data is on its way, and for all requests at once.
func ofOne(w blocking, call func(s *scene, e *errand, ctx context.Context, timeout time.Duration) (mx.Status, bool, error)) []blocking {
	one := func(s *scene, e *errand, ctx context.Context, timeout time.Duration) (bool, error) {
		st, done, err := call(s, e, ctx, timeout)
		if done {
			err = s.gotRequest(e.r, st)
		}
		return done, err
	}
	alone, crowd := w, w
	alone.call = func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
		list, _ := s.undone()
		i := max(0, slices.IndexFunc(list, func(e *errand) bool { return e.op == opLarge }))
		return one(s, list[i], ctx, timeout)
	}
	crowd.note = "at once"
	crowd.call = func(s *scene, ctx context.Context, timeout time.Duration) (any bool, err error) {
		var all sync.WaitGroup
		var mu sync.Mutex
		list, _ := s.undone()
		for _, e := range list {
			all.Go(func() {
				done, wrong := one(s, e, ctx, timeout)
				mu.Lock()
				defer mu.Unlock()
				any = any || done
				if wrong != nil && (err == nil || !done) {
					err = wrong
				}
			})
		}
		all.Wait()
		return any, err
	}
	return []blocking{alone, crowd}
}

// blockings are the calls of package mx that wait.
func blockings() []blocking {
	return slices.Concat(
		ofOne(blocking{name: "Endpoint.Wait", timed: true},
			func(s *scene, e *errand, _ context.Context, timeout time.Duration) (mx.Status, bool, error) {
				return s.ep.Wait(e.r, timeout)
			}),
		ofOne(blocking{name: "Endpoint.WaitContext", contextual: true, woken: mx.ErrTimeout},
			func(s *scene, e *errand, ctx context.Context, _ time.Duration) (mx.Status, bool, error) {
				return ended(s.ep.WaitContext(ctx, e.r))
			}),
		ofOne(blocking{name: "Endpoint.Finish", timed: true, late: mx.ErrTimeout, woken: mx.ErrTimeout},
			func(s *scene, e *errand, _ context.Context, timeout time.Duration) (mx.Status, bool, error) {
				return ended(mx.Status{}, s.ep.Finish(e.r, timeout))
			}),
		anyWaitings(), setWaitings(), messageWaitings(), otherWaitings(),
	)
}

// ended makes an outcome of the error of a call that also has errors for how a request has ended.
func ended(st mx.Status, err error) (mx.Status, bool, error) {
	if bad, ok := errors.AsType[*mx.StatusError](err); ok {
		return bad.Status, true, nil
	}
	return st, err == nil, err
}

func anyWaitings() []blocking {
	gotAny := func(s *scene, st mx.Status, done bool, err error) (bool, error) {
		if done {
			err = s.gotBits(st)
		}
		return done, err
	}
	peeked := func(s *scene, r mx.Request, found bool, err error) (bool, error) {
		if found {
			st, done, err := s.ep.Test(r)
			return gotAny(s, st, done, err)
		}
		return false, err
	}
	return []blocking{
		{name: "Endpoint.WaitAny", timed: true, call: func(s *scene, _ context.Context, timeout time.Duration) (bool, error) {
			st, done, err := s.ep.WaitAny(timeout, 0, 0)
			return gotAny(s, st, done, err)
		}},
		{name: "Endpoint.WaitAnyContext", contextual: true, call: func(s *scene, ctx context.Context, _ time.Duration) (bool, error) {
			st, done, err := s.ep.WaitAnyContext(ctx, 0, 0)
			return gotAny(s, st, done, err)
		}},
		{name: "Endpoint.Completions", contextual: true, silent: true, call: func(s *scene, ctx context.Context, _ time.Duration) (bool, error) {
			for st := range s.ep.Completions(ctx, 0, 0) {
				return gotAny(s, st, true, nil)
			}
			return false, nil
		}},
		{name: "Endpoint.Peek", timed: true, call: func(s *scene, _ context.Context, timeout time.Duration) (bool, error) {
			r, found, err := s.ep.Peek(timeout)
			return peeked(s, r, found, err)
		}},
		{name: "Endpoint.PeekContext", contextual: true, call: func(s *scene, ctx context.Context, _ time.Duration) (bool, error) {
			r, found, err := s.ep.PeekContext(ctx)
			return peeked(s, r, found, err)
		}},
	}
}

func setWaitings() []blocking {
	return []blocking{
		{name: "Endpoint.WaitAll", timed: true, contextual: true, call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
			list, reqs := s.undone()
			states := make([]mx.Status, len(reqs))
			done, err := s.ep.WaitAll(ctx, reqs, states, timeout)
			for i, e := range list {
				if reqs[i].IsZero() {
					err = errors.Join(err, s.gotRequest(e.r, states[i]))
				}
			}
			return done, err
		}},
		{name: "Endpoint.WaitSome", timed: true, contextual: true, call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
			_, reqs := s.undone()
			batch := make([]mx.Completion, len(reqs))
			n, err := s.ep.WaitSome(ctx, reqs, batch, timeout)
			return n > 0, errors.Join(err, s.gotBatch(batch[:n]))
		}},
		{name: "Endpoint.WaitFirst", timed: true, contextual: true, call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
			list, reqs := s.undone()
			i, done, err := s.ep.WaitFirst(ctx, reqs, timeout)
			if done {
				st, _, wrong := s.ep.Test(reqs[i])
				err = errors.Join(err, wrong, s.gotRequest(list[i].r, st))
			}
			return done, err
		}},
		{name: "Queue.Wait", timed: true, contextual: true, call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
			return s.queued(ctx, timeout, s.ep)
		}},
		{name: "Queue.Wait", note: "over two", timed: true, contextual: true, call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
			return s.queued(ctx, timeout, s.ep, s.other)
		}},
	}
}

func (s *scene) gotBatch(batch []mx.Completion) (err error) {
	for _, c := range batch {
		err = errors.Join(err, s.gotRequest(c.Request, c.Status))
	}
	return err
}

func (s *scene) queued(ctx context.Context, timeout time.Duration, over ...*mx.Endpoint) (bool, error) {
	q, err := mx.NewQueue(over...)
	if err != nil {
		return false, err
	}
	defer q.Close()
	_, reqs := s.undone()
	if err := q.Add(reqs...); err != nil {
		return false, err
	}
	batch := make([]mx.Completion, len(reqs))
	n, err := q.Wait(ctx, batch, timeout)
	return n > 0, errors.Join(err, s.gotBatch(batch[:n]))
}

// messageWaitings are calls for a message that the partner sends later.
func messageWaitings() []blocking {
	return []blocking{
		{name: "Endpoint.Probe", timed: true, call: func(s *scene, _ context.Context, timeout time.Duration) (bool, error) {
			_, found, err := s.ep.Probe(timeout, bitsOf(s.round, opLater, 0), ofRound|0xff00)
			return found, err
		}},
		{name: "Endpoint.ProbeContext", contextual: true, call: func(s *scene, ctx context.Context, _ time.Duration) (bool, error) {
			_, found, err := s.ep.ProbeContext(ctx, bitsOf(s.round, opLater, 0), ofRound|0xff00)
			return found, err
		}},
		{name: "Endpoint.Claim", timed: true, contextual: true, call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
			_, _, found, err := s.ep.Claim(ctx, timeout, bitsOf(s.round, opLater, 0), ofRound|0xff00)
			return found, err
		}},
	}
}

func otherWaitings() []blocking {
	waiter := func(name, note string, of func(ep *mx.Endpoint) *mx.Waiter) blocking {
		return blocking{name: name, note: note, timed: true, call: func(s *scene, _ context.Context, timeout time.Duration) (bool, error) {
			return of(s.ep).Wait(timeout)
		}}
	}
	return []blocking{
		waiter("Waiter.Wait", "", (*mx.Endpoint).NewWaiter),
		waiter("Waiter.Wait", "passive", (*mx.Endpoint).NewPassiveWaiter),
		{
			name: "Endpoint.Connect", timed: true, late: mx.ErrTimeout, woken: mx.ErrTimeout,
			call: func(s *scene, _ context.Context, timeout time.Duration) (bool, error) {
				_, err := s.ep.Connect(s.nic, s.stranger, filter, timeout)
				return err == nil, err
			},
		},
		{
			name: "Endpoint.ConnectContext", contextual: true, woken: mx.ErrTimeout,
			call: func(s *scene, ctx context.Context, _ time.Duration) (bool, error) {
				_, err := s.ep.ConnectContext(ctx, s.nic, s.stranger, filter)
				return err == nil, err
			},
		},
		{
			name: "Endpoint.ConnectAll", contextual: true, woken: mx.ErrTimeout,
			call: func(s *scene, ctx context.Context, _ time.Duration) (bool, error) {
				_, err := s.ep.ConnectAll(ctx, []mx.PeerName{{NIC: s.nic, Endpoint: s.stranger, Filter: filter}})
				return err == nil, err
			},
		},
		{
			name: "Endpoint.ConnectWith", contextual: true, woken: mx.ErrTimeout,
			call: func(s *scene, ctx context.Context, _ time.Duration) (bool, error) {
				_, _, err := s.ep.ConnectWith(ctx, mx.PeerName{NIC: s.nic, Endpoint: s.stranger, Filter: filter}, []byte("data"))
				return err == nil, err
			},
		},
		{
			name: "Listener.Wait", timed: true, contextual: true, // for who never comes
			call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
				l, err := s.ep.Listen()
				if err != nil {
					return false, err
				}
				defer func() {
					l.Close()
					_ = s.ep.Admit(nil) // for the calls that follow
				}()
				r, err := l.Wait(ctx, timeout)
				return r != nil, err
			},
		},
		{
			name: "CompletionCounter.Wait", timed: true, contextual: true, // of what never comes
			call: func(s *scene, ctx context.Context, timeout time.Duration) (bool, error) {
				c, err := s.ep.NewCompletionCounter()
				if err != nil {
					return false, err
				}
				defer c.Close()
				successes, failures, err := c.Wait(ctx, 1, timeout)
				return successes+failures > 0, err
			},
		},
	}
}
