package exchange

import (
	"context"
	"fmt"

	"gomx/mx"
)

// Way is how a program starts operations, and waits for them.
type Way struct {
	Send func(buf []byte, to mx.EndpointAddr) error
	Recv func(buf []byte) error
	Wait func() error // until all that was started is complete
}

// ByRequest starts operations by Isend and Irecv, up to most of them at a time. How their requests are waited for is the caller's.
func ByRequest(ep *mx.Endpoint, most int, wait func(reqs []mx.Request) error) Way {
	reqs := make([]mx.Request, 0, most)
	add := func(r mx.Request, err error) error {
		reqs = append(reqs, r)
		return err
	}
	return Way{
		Send: func(buf []byte, to mx.EndpointAddr) error { return add(ep.Isend(buf, to, Match, nil)) },
		Recv: func(buf []byte) error { return add(ep.Irecv(buf, Match, mx.MatchMaskNone, nil)) },
		Wait: func() error {
			err := wait(reqs)
			reqs = reqs[:0]
			return err
		},
	}
}

// WaitEach is a Way that waits for one request after the other.
func WaitEach(ep *mx.Endpoint, most int) (Way, error) {
	return ByRequest(ep, most, func(reqs []mx.Request) error {
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
	}), nil
}

// Counted is a Way whose operations a completion counter counts.
func Counted(ep *mx.Endpoint, _ int) (Way, error) {
	c, err := ep.NewCompletionCounter()
	begun := uint64(0)
	return Way{
		Send: func(buf []byte, to mx.EndpointAddr) error {
			begun++
			return c.Isend(buf, to, Match)
		},
		Recv: func(buf []byte) error {
			begun++
			return c.Irecv(buf, Match, mx.MatchMaskNone)
		},
		Wait: func() error {
			_, failures, err := c.Wait(context.Background(), begun, mx.Infinite)
			if err == nil && failures > 0 {
				err = fmt.Errorf("%d of %d operations failed", failures, begun)
			}
			return err
		},
	}, err
}
