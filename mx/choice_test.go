package mx

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gomx/transport"
)

// What was found out only when the endpoint was opened takes the transport off the
// list, unless it was asked for.
func TestUselessTransportsAreLeftOut(t *testing.T) {
	if transportTable["rdma"].when == nil {
		t.Skip("this system has no transport that can turn out useless")
	}
	broken, busy := errors.New("broken"), fmt.Errorf("taken: %w", transport.ErrBusy)
	for name, c := range map[string]struct {
		names []string
		auto  bool
		why   error
		left  []string // nil: no other choice
	}{
		"of several":     {[]string{"shm", "rdma", "tcp"}, true, broken, []string{"shm", "tcp"}},
		"asked for":      {[]string{"shm", "rdma", "tcp"}, false, broken, nil},
		"id taken":       {[]string{"shm", "rdma", "tcp"}, true, busy, nil},
		"no error":       {[]string{"shm", "rdma", "tcp"}, true, nil, nil},
		"not among them": {[]string{"shm", "tcp"}, true, broken, nil},
		"alone":          {[]string{"rdma"}, true, broken, nil},
	} {
		before := choice{names: c.names, auto: c.auto}
		less, ok := before.without(c.why)
		if ok != (c.left != nil) || !slices.Equal(less.names, c.left) || ok && less.not != c.why {
			t.Errorf("%s: %v, %v because %v", name, ok, less.names, less.not)
		}
		if len(before.names) != len(c.names) {
			t.Errorf("%s: the first choice is %v now", name, before.names)
		}
	}
}
