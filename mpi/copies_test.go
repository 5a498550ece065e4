package mpi

import (
	"errors"
	"testing"
)

// TestCopiesAreTestedInTurn: what a buffered send does about earlier ones does not grow with them, and those that
// are complete are let go whatever the others do.
func TestCopiesAreTestedInTurn(t *testing.T) {
	const stuck = 1000
	var k copies
	asked := 0
	test := func(q *Request) (bool, error) {
		asked++
		return q.tag >= stuck, nil
	}
	add := func(tag int32) {
		asked = 0
		if err := k.look(test); err != nil || asked > looks {
			t.Fatalf("tag %d: %d copies were tested, %v", tag, asked, err)
		}
		k.keep(Request{party: party{tag: tag}})
	}
	for tag := range int32(20 * stuck) {
		add(tag)
	}
	if n := len(k.sends); n < stuck || n > 2*stuck+looks || int(k.count.Load()) != n {
		t.Errorf("%d copies are kept, %d of which are not complete; counted are %d", n, stuck, k.count.Load())
	}
	left := map[int32]bool{}
	for _, q := range k.all() {
		left[q.tag] = true
	}
	for tag := range int32(stuck) {
		if !left[tag] {
			t.Fatalf("copy %d, which is not complete, is not there", tag)
		}
	}
	if len(k.all()) != 0 || k.count.Load() != 0 {
		t.Error("all were taken, and some are there")
	}
}

func TestFailedCopyIsReportedOnce(t *testing.T) {
	var k copies
	for tag := range int32(5) {
		k.keep(Request{party: party{tag: tag}})
	}
	failed := errors.New("failed")
	var got []error
	for range 10 {
		got = append(got, k.look(func(q *Request) (bool, error) {
			if q.tag == 3 {
				return true, failed
			}
			return false, nil
		}))
	}
	n := 0
	for _, err := range got {
		if err == failed {
			n++
		}
	}
	if n != 1 || len(k.sends) != 4 {
		t.Errorf("reported %d times, %d others are left", n, len(k.sends))
	}
}
