//go:build linux

package exs_test

import (
	"maps"
	"testing"
	"time"

	"gomx/exs"
	"gomx/integration/internal/devices"
)

// holds is how much of each kind the kernel has for processes that use RDMA devices.
type holds = map[string]int

func deviceHolds(t testing.TB) holds {
	t.Helper()
	return devices.Held(t, "qp", "mr")
}

// settles asks until no more is held than that.
func settles(t testing.TB, want holds) {
	t.Helper()
	var got holds
	for range 100 {
		if got = deviceHolds(t); maps.Equal(got, want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("held: %v, before: %v", got, want)
}

// Registered memory is registered with the device, once, and Deregister gives that back.
func TestRegistered(t *testing.T) {
	l := library(t, "rdma")
	if _, err := l.Endpoint(); err != nil {
		t.Fatal(err)
	}
	before := deviceHolds(t)
	var all []*exs.Memory
	for i := range 3 {
		m, err := l.Register(make([]byte, 1<<20), 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
		if got := deviceHolds(t); got["mr"] != before["mr"]+i+1 && len(got) > 0 {
			t.Errorf("%d registrations: %v, before: %v", i+1, got, before)
		}
	}
	for _, m := range all {
		if err := m.Deregister(0); err != nil {
			t.Error(err)
		}
	}
	if got := deviceHolds(t); !maps.Equal(got, before) {
		t.Errorf("after Deregister: %v, before: %v", got, before)
	}
}
