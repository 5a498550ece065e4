package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/match"
	"gomx/transport/wire"
)

// TestPartsAreListedAsReceives: of a message that is arriving in a multi-receive nobody gets a handle, by which it could be taken from there.
func TestPartsAreListedAsReceives(t *testing.T) {
	h := newHouse(endpointtest.Reliable(false), endpoint.Config{})
	l := h.dialled(2)
	session, ok := h.connect(l, 2, 100)
	if !ok {
		t.Fatal("not connected")
	}
	multi, err := h.RecvMulti(make([]byte, 4<<20), 1, 5, match.MaskNone, h.OpenQueue(), nil)
	if err != nil {
		t.Fatal(err)
	}
	h.frame(l, wire.Header{
		Kind: wire.Rendezvous, Flags: wire.HasID | wire.HasRange, Match: 5, ID: 7, Total: 1 << 20, Offset: 1, Session: session.Session, Seq: 100,
	}, nil)
	list, _ := h.Outstanding(10)
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, o := range list {
		part := endpoint.Outstanding{Kind: "recv", Bytes: 1 << 20}
		if o.Handle == multi {
			part = endpoint.Outstanding{Kind: "multi-receive", Handle: multi, Bytes: 4 << 20}
		}
		if o.Kind != part.Kind || o.Handle != part.Handle || o.Bytes != part.Bytes {
			t.Errorf("%+v, want %+v", o, part)
		}
	}
}
