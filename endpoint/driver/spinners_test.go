//go:build linux

package driver

import (
	"testing"

	"gomx/endpoint"
	"gomx/transport/bell"
)

// bare opens an endpoint without transports. The caller closes it.
func bare(t *testing.T) *Endpoint {
	t.Helper()
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(Config{Bell: b, Engine: endpoint.Config{NIC: 1, Session: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEvictedSpinnerIsCountedOnce: a caller takes the polling role from the endpoint's own goroutine while that spins, and neither is
// counted when both have left, whoever leaves first. If one was counted for ever, all of the process would give way to it.
func TestEvictedSpinnerIsCountedOnce(t *testing.T) {
	d := bare(t)
	defer d.Close()
	own, caller := &d.back.w, &waiter{until: never}
	for _, order := range [][]*waiter{{own, caller}, {caller, own}} {
		d.lock()
		before := spinners.Load()
		d.pace.procs = before + 16
		for _, w := range []*waiter{own, caller} {
			if !d.takeRole(w) {
				t.Fatal("the role is taken")
			}
			if budget, _ := d.pace.begin(true, forRequest, 0); budget == 0 {
				t.Fatal("does not spin")
			}
		}
		if n := spinners.Load() - before; n != 1 {
			t.Errorf("%d spinners, want the caller alone", n)
		}
		d.leave(order[0])
		d.leave(order[1])
		if n := spinners.Load() - before; n != 0 {
			t.Errorf("%d spinners are left", n)
		}
		d.unlock()
	}
}
