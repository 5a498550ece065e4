package mx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

// Peers that do not answer keep ConnectAll neither from those behind them in the list, nor from the other contexts of those who do.
func TestConnectAllBesideTheSilent(t *testing.T) {
	testlength.Long(t)
	const silent = 70 // more than are connected at once
	w := newWorld(t, "mem")
	good, caller := w.open(mx.WithContexts(2)), w.open()
	var peers []mx.PeerName
	add := func(ep *mx.Endpoint) {
		nic, id := place(t, ep)
		peers = append(peers, mx.PeerName{NIC: nic, Endpoint: id, Filter: testFilter})
	}
	for range silent {
		ep := w.open(mx.Passive())
		if _, err := ep.Listen(); err != nil {
			t.Fatal(err)
		}
		add(ep)
	}
	add(good)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	addrs, err := caller.ConnectAll(ctx, peers)
	all, _ := errors.AsType[mx.ConnectAllError](err)
	if len(all.Unwrap()) != silent || addrs[silent].IsZero() {
		t.Fatalf("%d have failed, the good one with %v", len(all.Unwrap()), all[silent])
	}
	if _, err := addrs[silent].ContextAt(1); err != nil {
		t.Error(err)
	}
}
