package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gomx/mpi/internal/service"
	"gomx/mpi/launch"
)

// A mistake that all ranks make, or several, is printed once. The process of rank 0 says which rank may do so: the first whose
// program has failed. The others wait for the end of the job, which that one brings about.

// firstCauseGrace is how long a rank that fails because of another rank, or after another one, waits for the end of the job, which
// that rank causes. It is also how long rank 0 has to say which it is.
const firstCauseGrace = 2 * time.Second

const first, notFirst = 1, 2

func (p *controlPlane) handleFirst() {
	p.Handle(askFirst, rankHead, func(q *question) {
		answer := byte(first)
		if p.failed.Swap(true) {
			answer = notFirst
		}
		q.Answer([]byte{answer}, nil)
	})
}

// failsFirst reports whether the program of no other rank has failed before that of this process, to the knowledge of rank 0. It is to be
// asked once. A rank 0 that ends meanwhile has failed before; one that stands still knows nothing, nor does one that has finalized.
func (j *job) failsFirst() bool {
	ctx, cancel := context.WithTimeout(context.Background(), firstCauseGrace)
	defer cancel()
	answer := make([]byte, 1)
	_, err := j.control.Call(ctx, 0, askFirst, make([]byte, rankHead), nil, answer)
	switch {
	case err == nil:
		return answer[0] == first
	case errors.Is(err, service.ErrClosed), j.control.guards.hasLeft(0): // this process has finalized, or rank 0
		return true
	default:
		return ctx.Err() != nil
	}
}

// announce has the launcher, or the other ranks, learn of a process whose settings make no sense, before it ends. A launcher does not end the
// others for one that it has not heard of.
func announce(why error) {
	known := make(chan struct{})
	go func() {
		defer close(known)
		if j, err := launch.Find(); err == nil {
			j.Fail(why.Error())
		}
	}()
	select {
	case <-known:
	case <-time.After(firstCauseGrace):
	}
}

// firstOf says the error of the rank that has failed first, and in a line of its own which others have failed, too.
func firstOf(err error) string {
	var ranks []*rankError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if r, ok := err.(*rankError); ok {
				ranks = append(ranks, r)
			}
		}
	}
	if len(ranks) == 0 {
		return err.Error()
	}
	var others []string
	for _, r := range ranks[1:] {
		others = append(others, fmt.Sprint(r.rank))
	}
	text := ranks[0].Error()
	switch len(others) {
	case 0:
	case 1:
		text += "\nmpi: rank " + others[0] + " has failed, too"
	default:
		text += "\nmpi: ranks " + strings.Join(others, ", ") + " have failed, too"
	}
	return text
}
