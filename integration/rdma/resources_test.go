//go:build linux

package rdma_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"gomx/integration/internal/devices"
)

// kinds of what the kernel has for processes that use a device.
var kinds = []string{"pd", "cq", "srq", "qp", "mr"}

// resources are how many of each kind there are.
type resources map[string]int

func resourcesNow(t testing.TB) resources {
	t.Helper()
	return devices.Held(t, kinds...)
}

// hold is what a couple has of devices, and pinned.
type hold struct {
	resources
	pinned int
}

func (c *couple) holds() hold {
	c.t.Helper()
	return hold{resourcesNow(c.t), c.a.Pinned() + c.b.Pinned()}
}

func (h hold) String() string { return fmt.Sprintf("%v, %d KiB pinned", h.resources, h.pinned>>10) }

func (h hold) equal(other hold) bool {
	return maps.Equal(h.resources, other.resources) && h.pinned == other.pinned
}

// settles asks until the processes have no more than that: queue pairs of a link that
// has just ended are given back by its next poll.
func settles(t testing.TB, want hold, now func() hold) {
	t.Helper()
	var got hold
	for range 100 {
		if got = now(); got.equal(want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("left: %v; before: %v", got, want)
}
