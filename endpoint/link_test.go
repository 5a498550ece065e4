package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// Two sides dial at once. The one with the larger address gives its own link up,
// and the other may hear of that before its own dial is answered.
func TestCrossingLinkEndsBeforeOwnDial(t *testing.T) {
	a := endpoint.New(endpoint.Config{NIC: 1, Session: 1, EagerLimit: -1, CopyLimit: -1}, nobody{})
	caps := wire.Caps{Name: "slot", MaxFrame: 64, Eager: 64, Ordered: true, Reliable: true}
	theirs, ours := &slot{caps: caps}, &slot{caps: caps}
	h := a.Iconnect(2, 0, 0, 0, nil)
	stranger := a.LinkOwner(2, 0, theirs, false)
	a.LinkUp(stranger, theirs, false)
	a.LinkDown(stranger, theirs)
	var st endpoint.Status
	if done, _ := a.Test(h, &st); done {
		t.Fatalf("connect ended with %v while its own dial was under way", st.Code)
	}
	a.LinkUp(1, ours, true)
	if ours.tail != 1 || ours.frames[0].h.Kind != wire.Connect {
		t.Errorf("%d frames on the link that was dialled, want a connect", ours.tail)
	}
}
