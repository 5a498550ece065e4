package main

import (
	"context"
	"fmt"

	"gomx/mx"
)

// waiting waits until all of some requests are complete, and no others are under way.
type waiting func(reqs []mx.Request) error

// newWaiting returns one that is good for so many requests at a time.
func newWaiting(how string, ep *mx.Endpoint, most int) (waiting, error) {
	switch how {
	case "each":
		return func(reqs []mx.Request) error { return waitEach(ep, reqs) }, nil
	case "any":
		return func(reqs []mx.Request) error { return waitAny(ep, len(reqs)) }, nil
	case "queue":
		q, err := mx.NewQueue(ep)
		batch := make([]mx.Completion, most)
		return func(reqs []mx.Request) error { return waitQueue(q, batch, reqs) }, err
	}
	return nil, fmt.Errorf("no such way to wait: %q", how)
}

func waitEach(ep *mx.Endpoint, reqs []mx.Request) error {
	for _, r := range reqs {
		st, _, err := ep.Wait(r, mx.Infinite)
		if err == nil {
			err = st.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func waitAny(ep *mx.Endpoint, count int) error {
	for range count {
		st, _, err := ep.WaitAny(mx.Infinite, match, mx.MatchMaskNone)
		if err == nil {
			err = st.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func waitQueue(q *mx.Queue, batch []mx.Completion, reqs []mx.Request) error {
	if err := q.Add(reqs...); err != nil {
		return err
	}
	for missing := len(reqs); missing > 0; {
		n, err := q.Wait(context.Background(), batch, mx.Infinite)
		if err != nil {
			return err
		}
		for i := range batch[:n] {
			if err := batch[i].Status.Err(); err != nil {
				return err
			}
		}
		missing -= n
	}
	return nil
}
