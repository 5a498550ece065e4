package main

import (
	"context"
	"fmt"
	"time"

	"gomx/mx"
)

// Match information: what a message is for, and the step of its barrier.
const (
	forBroadcast = 1 << 16
	forBarrier   = 2 << 16
)

// broadcast brings bytes of rank 0 to all members, along a binomial tree: rank r has them from r less its highest bit, and
// sends them to the ranks with one higher bit more. What forwards them is that the receive is counted.
func (m *member) broadcast(n int) ([]byte, error) {
	have, err := m.ep.NewCompletionCounter()
	if err != nil {
		return nil, err
	}
	defer have.Close()
	buf := make([]byte, n)
	if m.rank == 0 {
		copy(buf, pattern(n))
	} else {
		r, err := m.ep.Irecv(buf, forBroadcast, mx.MatchMaskNone, nil)
		if err != nil {
			return nil, err
		}
		if err := have.Add(r); err != nil {
			return nil, err
		}
	}
	all := uint64(1)
	for step := 1; step < size; step *= 2 {
		if step <= m.rank {
			continue
		}
		r, err := have.At(1).Isend(buf, m.to[m.rank+step], forBroadcast, nil)
		if err != nil {
			return nil, err
		}
		if err := have.Add(r); err != nil { // which has left the buffer in the end
			return nil, err
		}
		all++
	}
	over, err := m.when(have, all)
	if err != nil {
		return nil, err
	}
	if m.rank == 0 {
		if err := have.Increment(1); err != nil {
			return nil, err
		}
	}
	_, err = over()
	return buf, err
}

// rounds are the steps of a barrier: in step k a member tells the one 2^k further on that everybody has come of whom it
// knows.
const rounds = 3 // 2^3 is size

// barrier is what the barriers of a member stand on. ready[k] comes to what step k waits for: that the member has come, and
// from step 1 on that the step before is over, which takes its message and its send. Behind the last, ready[rounds] says that everybody has
// come. A message of the next barrier may be counted early; its sender knows that everybody has come to this one.
type barrier struct {
	m     *member
	ready [rounds + 1]*mx.CompletionCounter
	made  uint64 // barriers
}

func (m *member) newBarrier() (*barrier, error) {
	b := &barrier{m: m}
	for k := range b.ready {
		c, err := m.ep.NewCompletionCounter()
		if err != nil {
			return nil, err
		}
		b.ready[k] = c
	}
	return b, nil
}

func (b *barrier) close() {
	for _, c := range b.ready {
		c.Close()
	}
}

// prepare makes the operations of one more barrier. It begins when ready[0] is incremented.
func (b *barrier) prepare() error {
	b.made++
	for k := range rounds {
		need := b.made
		if k > 0 {
			need *= 2
		}
		match := forBarrier | uint64(k)
		recv, err := b.m.ep.Irecv(nil, match, mx.MatchMaskNone, nil)
		if err != nil {
			return err
		}
		send, err := b.ready[k].At(need).Isend(nil, b.m.to[(b.m.rank+1<<k)%size], match, nil)
		if err != nil {
			return err
		}
		if err := b.ready[k+1].Add(recv, send); err != nil {
			return err
		}
	}
	return nil
}

// barriers makes barriers of all members of this process, and waits for each: one goroutine starts them all, and polls the
// endpoints for a while, and then waits, until all are through. It returns how long they took, with their preparation, and without
// the first, which waits for the members of other processes.
func barriers(members []*member, n int) (took time.Duration, err error) {
	var eps []*mx.Endpoint
	for _, m := range members {
		eps = append(eps, m.ep)
	}
	q, err := mx.NewQueue(eps...)
	if err != nil {
		return 0, err
	}
	defer q.Close()
	all := make([]*barrier, len(members))
	for i, m := range members {
		if all[i], err = m.newBarrier(); err != nil {
			return 0, err
		}
		defer all[i].close()
	}
	done, ctx := make([]mx.Completion, len(members)), context.Background()
	begin := time.Now()
	for k := range n + 1 {
		if k == 1 {
			begin = time.Now()
		}
		for _, b := range all {
			if err := b.prepare(); err != nil {
				return 0, err
			}
			through, err := b.ready[rounds].Threshold(2*b.made, 0, nil)
			if err != nil {
				return 0, err
			}
			if err := q.Add(through); err != nil {
				return 0, err
			}
			if err := b.ready[0].Increment(1); err != nil {
				return 0, err
			}
		}
		for left, polls := len(members), 0; left > 0; polls++ {
			timeout := time.Duration(0) // a wait for several endpoints sleeps at once
			if len(eps) == 1 || polls > 1000 {
				timeout = patience
			}
			k, err := q.Wait(ctx, done, timeout)
			if err != nil {
				return 0, err
			}
			if left -= k; k == 0 && timeout > 0 {
				return 0, fmt.Errorf("a barrier does not end: %v", eps[0].Pending())
			}
		}
	}
	return time.Since(begin), nil
}

// chain makes barriers of which each begins when the one before it is over: after the first has been started, no call of the
// program is needed until the last is over. It returns how long they took. The first is not among them: it waits for
// the members of other processes, which may still prepare theirs.
func (m *member) chain(n int) (took time.Duration, err error) {
	b, err := m.newBarrier()
	if err != nil {
		return 0, err
	}
	defer b.close()
	for range n + 1 {
		if b.made > 0 {
			through, err := b.ready[rounds].Threshold(2*b.made, 0, nil)
			if err != nil {
				return 0, err
			}
			if err := b.ready[0].Add(through); err != nil {
				return 0, err
			}
		}
		if err := b.prepare(); err != nil {
			return 0, err
		}
	}
	first, err := m.when(b.ready[rounds], 2)
	if err != nil {
		return 0, err
	}
	last, err := m.when(b.ready[rounds], 2*b.made)
	if err != nil {
		return 0, err
	}
	if err := b.ready[0].Increment(1); err != nil {
		return 0, err
	}
	end, err := last()
	if err != nil {
		return 0, err
	}
	begin, err := first()
	return end.Sub(begin), err
}

// when returns a function that waits until a counter has come to a number, without a call of the library, and returns the time: the
// handler of a queue, which the endpoint's own goroutine runs, tells it.
func (m *member) when(c *mx.CompletionCounter, successes uint64) (wait func() (time.Time, error), err error) {
	q, err := mx.NewQueue(m.ep)
	if err != nil {
		return nil, err
	}
	type ending struct {
		code mx.StatusCode
		at   time.Time
	}
	over := make(chan ending, 1)
	if err := q.Handle(func(done []mx.Completion) { over <- ending{done[0].Status.Code, time.Now()} }); err != nil {
		return nil, err
	}
	r, err := c.Threshold(successes, 0, nil)
	if err != nil {
		return nil, err
	}
	if err := q.Add(r); err != nil {
		return nil, err
	}
	return func() (time.Time, error) {
		defer q.Close()
		select {
		case end := <-over:
			if end.code != mx.StatusSuccess {
				return end.at, fmt.Errorf("rank %d: %v", m.rank, end.code)
			}
			return end.at, nil
		case <-time.After(patience):
			return time.Time{}, fmt.Errorf("rank %d waits in vain: %v", m.rank, m.ep.Pending())
		}
	}, nil
}
