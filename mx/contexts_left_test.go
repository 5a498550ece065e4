package mx

import (
	"strings"
	"testing"
	"time"
)

// A peer that disconnects while its contexts are being connected is found out before Connect returns, whichever of the sessions it
// has ended, and though nobody has polled since.
func TestPeerThatLeavesWhileItsContextsAreConnected(t *testing.T) {
	if err := Init(); err != nil {
		t.Fatal(err)
	}
	defer Finalize()
	const contexts = 3
	var eps [2]*Endpoint
	for i := range eps {
		var err error
		if eps[i], err = OpenEndpoint(AnyNIC, AnyEndpoint, 5, WithContexts(contexts), WithTransports("mem")); err != nil {
			t.Fatal(err)
		}
		defer eps[i].Close()
	}
	a, b := eps[0], eps[1]
	connect := func(from, to *Endpoint) EndpointAddr {
		nic, id, err := DecomposeEndpointAddr(to.Addr())
		if err != nil {
			t.Fatal(err)
		}
		addr, err := from.Connect(nic, id, 5, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	for i := range contexts {
		for j := range contexts {
			toB, toA := connect(a, b), connect(b, a)
			if e := a.stillConnected(toB); e != nil {
				t.Fatal(e)
			}
			own := b.ownContext(j)
			first, err := toA.From(own)
			if err != nil {
				t.Fatal(err)
			}
			one, err := first.ContextAt(i)
			if err != nil {
				t.Fatal(err)
			}
			if err := own.d.Disconnect(one.a); err != nil {
				t.Fatal(err)
			}
			e := a.stillConnected(toB)
			if e == nil || e.Code != ErrConnectionFailed || !strings.Contains(e.Error(), "connect again") {
				t.Errorf("context %d of the peer has left %d of ours: %v", j, i, e)
			}
		}
	}
}
