//go:build linux && cgo

package rdma

import (
	"errors"
	"slices"
	"testing"
)

// stuck is a region of which some can't be closed.
type stuck struct {
	err    error
	closed bool
}

func (s *stuck) Close() error {
	s.closed = s.err == nil
	return s.err
}

// TestCloseEach: one that can't be closed keeps none of the others open.
func TestCloseEach(t *testing.T) {
	busy, gone := errors.New("in use"), errors.New("no such device")
	all := []*stuck{{}, {err: busy}, {}, {err: gone}, {}}
	left, err := closeEach(all)
	if !errors.Is(err, busy) || !errors.Is(err, gone) || !slices.Equal(left, []*stuck{all[1], all[3]}) {
		t.Errorf("%d are left, with %v", len(left), err)
	}
	for i, s := range all {
		if s.closed != (s.err == nil) {
			t.Errorf("region %d: closed %t", i, s.closed)
		}
	}
	if left, err := closeEach([]*stuck(nil)); left != nil || err != nil {
		t.Errorf("of none %v are left, with %v", left, err)
	}
}
