package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"gomx/mpi"
	"gomx/mx"
)

// bound ends every world of the tests, so that none can hang.
const bound = 30 * time.Second

// media are the transports that worlds are made over.
var media = []string{"mem", "shm", "tcp"}

// over runs a world of n ranks over each transport that works here, and with the promise that one goroutine of
// a rank at a time makes calls, which f keeps.
func over(t *testing.T, n int, f func(c *mpi.Comm) error) {
	t.Helper()
	overMany(t, n, f)
	t.Run(fmt.Sprintf("serialized/%d", n), func(t *testing.T) {
		skipWithout(t, "shm")
		world(t, n, f, mpi.WithTransports("shm"), mpi.WithThreadLevel(mpi.ThreadSerialized))
	})
}

// overMany is over for ranks with many goroutines.
func overMany(t *testing.T, n int, f func(c *mpi.Comm) error) {
	t.Helper()
	for _, medium := range media {
		t.Run(fmt.Sprintf("%s/%d", medium, n), func(t *testing.T) {
			skipWithout(t, medium)
			world(t, n, f, mpi.WithTransports(medium))
		})
	}
}

func skipWithout(t testing.TB, medium string) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == medium && !info.Available {
			t.Skipf("transport %s: %s", medium, info.Reason)
		}
	}
}

// unchecked has the ranks of a test not check, whatever the environment says. In checked mode every collective waits for all ranks
// first, all of them find out what differs, messages are longer, and they are allocated for: the test is about ranks that are apart or differ, about
// lengths, or about allocations.
func unchecked(t *testing.T) {
	t.Helper()
	if os.Getenv(checking) != "" {
		t.Setenv(checking, "0")
	}
}

const checking = "MX_CHECK"

// amongOthers has a test that waits most of the time run beside others like it. Where ranks check if nobody says otherwise, it runs alone: unchecked changes
// the environment of all.
func amongOthers(t *testing.T) {
	t.Helper()
	if os.Getenv(checking) == "" {
		t.Parallel()
	}
}

// world runs f on n ranks, which must succeed.
func world(t testing.TB, n int, f func(c *mpi.Comm) error, opts ...mpi.Option) {
	t.Helper()
	if err := run(t, n, f, opts...); err != nil {
		t.Fatal(err)
	}
}

// run runs f on n ranks, which must end.
func run(t testing.TB, n int, f func(c *mpi.Comm) error, opts ...mpi.Option) error {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- mpi.Run(n, f, opts...) }()
	select {
	case err := <-result:
		return err
	case <-time.After(bound):
		stacks := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s: a world of %d ranks does not end\n%s", t.Name(), n, stacks[:runtime.Stack(stacks, true)]))
	}
}

// wantError says what is wrong with an error that should be of a class and name some things.
func wantError(err error, class mpi.ErrorClass, rank int) error {
	e, ok := errors.AsType[*mpi.Error](err)
	switch {
	case !errors.Is(err, class):
		return fmt.Errorf("error %v, want class %q", err, class)
	case !ok || e.Op == "" || e.Rank != rank:
		return fmt.Errorf("error %q does not name the call and rank %d", err, rank)
	}
	return nil
}

// pattern makes n numbers that differ from place to place and from seed to seed.
func pattern(n, seed int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i*7 ^ seed*104729)
	}
	return s
}

// same says where two slices differ.
func same[T comparable](got, want []T) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

// countsAllocations is for tests that count what the whole process allocates. No tool of another process may read this
// one meanwhile, which is answered with memory of its own.
func countsAllocations(t *testing.T) {
	t.Helper()
	if mpi.Racing {
		t.Skip("the race detector is on, which allocates by itself")
	}
	unchecked(t)
	t.Setenv("MX_LIVE", "0")
}
