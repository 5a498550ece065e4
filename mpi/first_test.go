package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gomx/mpi/internal/hang"
	"gomx/mpi/internal/service"
)

// Of a job of goroutines, Main prints the error of the rank that has failed first, and which others have failed.
func TestFirstErrorOfSeveral(t *testing.T) {
	why := errors.New("out of cheese")
	for failed, want := range map[string]string{
		"2":   "rank 2: out of cheese",
		"21":  "rank 2: out of cheese\nmpi: rank 1 has failed, too",
		"130": "rank 1: out of cheese\nmpi: ranks 0, 3 have failed, too",
	} {
		j := newJob(4, settings{}, nil)
		errs := make([]error, 4)
		for _, digit := range failed {
			rank := int(digit - '0')
			errs[rank] = why
			j.ending.CompareAndSwap(nil, &ending{rank: rank, cause: why})
		}
		err := j.verdict(errs)
		if text := firstOf(err); text != want || !errors.Is(err, why) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	alone := fmt.Errorf("%w: %w", ErrArg, why)
	if text := firstOf(alone); text != alone.Error() {
		t.Errorf("%q, want %q", text, alone)
	}
}

// The requests that Finalize names stand in the order of their tags, by number.
func TestNamesOfRequests(t *testing.T) {
	var list []hang.Need
	for _, tag := range []int{100, 9, 20, hang.Any} {
		list = append(list, hang.Need{Op: "Irecv", Peer: 1, Tag: tag, Bytes: 8})
	}
	list = append(list, hang.Need{Op: "Irecv", Peer: 0, Tag: 30, Bytes: 8})
	var order []string
	for _, name := range namesOfRequests(list) {
		parts := strings.Split(name, ", ")
		order = append(order, parts[1])
	}
	if want := []string{"tag 30", "any tag", "tag 9", "tag 20", "tag 100"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

// TestFirstToFailWithoutRankZero: if rank 0 ends before its time while it is asked who has failed first, it has; unless it has finalized.
func TestFirstToFailWithoutRankZero(t *testing.T) {
	j := newJob(2, settings{}, nil)
	defer j.finish()
	j.control = newControlPlane(j, service.Local(1)) // there is no rank 0 to be asked
	if j.failsFirst() {
		t.Error("rank 0 is gone, and rank 1 believes to be the first that fails")
	}
	j.control.guards.left = map[int]bool{0: true}
	if !j.failsFirst() {
		t.Error("rank 0 has finalized, and rank 1 waits for it")
	}
}
