package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// TestAlgorithmIsThatOfTheCall: what was started goes on as it was started, whatever is set before it comes to run.
func TestAlgorithmIsThatOfTheCall(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	kinds, algorithms := mpi.Algorithms()
	offered := map[string][]string{}
	for i, kind := range kinds {
		offered[kind] = algorithms[i]
	}
	for call := range nonblocking {
		kind := kindOf(call)
		if len(offered[kind]) == 0 {
			t.Errorf("%s: there are no algorithms for %q", call, kind)
		}
		t.Run(call, func(t *testing.T) {
			over(t, 4, func(c *mpi.Comm) error { return setWhileUnderWay(c, call, offered[kind]) })
		})
	}
}

// kindOf returns the kind that the algorithms of a nonblocking collective are set by.
func kindOf(call string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(call, "I")), "block"), "v")
}

// setWhileUnderWay has each algorithm set, a collective started, and another one set before or after it is complete.
func setWhileUnderWay(c *mpi.Comm, call string, algorithms []string) error {
	kind := kindOf(call)
	for round := range 10 {
		before, after := algorithms[round%len(algorithms)], algorithms[(round+1)%len(algorithms)]
		if err := c.SetAlgorithm(kind, before); err != nil {
			return err
		}
		q, right, err := nonblocking[call](c)
		if err != nil {
			return err
		}
		set := func() error { return c.SetAlgorithm(kind, after) }
		wait := func() error { return second(q.Wait()) }
		first, then := set, wait
		if c.Rank()%2 != 0 {
			first, then = wait, set
		}
		if err := errors.Join(first(), then(), right()); err != nil {
			return fmt.Errorf("round %d, %s before %s: %w", round, before, after, err)
		}
	}
	return nil
}
