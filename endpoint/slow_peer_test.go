package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/match"
	"gomx/transport/wire"
)

// TestPullsBehindOtherPulls: a large message whose blocks come behind those of another one is not given up while these come,
// and is when nothing comes any more.
func TestPullsBehindOtherPulls(t *testing.T) {
	const timeout, size = 1000, 1 << 20
	h := newHouse(endpointtest.Reliable(false), endpoint.Config{RequestTimeout: timeout})
	l := h.dialled(2)
	session, ok := h.connect(l, 2, 100)
	if !ok {
		t.Fatal("not connected")
	}
	l.sent = nil
	var receives []endpoint.Handle
	for i := range uint64(2) {
		r, err := h.Recv(&endpoint.Posting{First: make([]byte, size), Value: i, Mask: match.MaskNone}, nil)
		if err != nil {
			t.Fatal(err)
		}
		receives = append(receives, r)
		h.frame(l, wire.Header{
			Kind: wire.Rendezvous, Flags: wire.HasID | wire.HasRange, Match: i, ID: 7 + i, Total: size, Offset: 1,
			Session: session.Session, Seq: 100 + uint32(i),
		}, nil)
	}
	var asked []wire.Header // for the first message
	for _, f := range l.sent {
		if f.Header.Kind == wire.PullRequest && f.Header.ID == 7 {
			asked = append(asked, f.Header)
		}
	}
	now := endpoint.Tick(0)
	for _, q := range asked {
		for at := q.Offset; at < q.Offset+q.Total && now < 5*timeout; at += q.Seq {
			now += timeout * 9 / 10
			h.Advance(now)
			h.frame(l, wire.Header{Kind: wire.PullData, Flags: wire.HasID | wire.HasRange, ID: q.Match, Offset: at, Session: session.Session}, make([]byte, q.Seq))
		}
	}
	if now < 5*timeout {
		t.Fatalf("only %d requests were made", len(asked))
	}
	var st endpoint.Status
	for i, r := range receives {
		if done, err := h.Test(r, &st); done || err != nil {
			t.Errorf("message %d, while blocks come: %v, %v, %v", i, done, st.Code, err)
		}
	}
	for end := now + 3*timeout; now < end; now += timeout / 10 {
		h.Advance(now)
	}
	for i, r := range receives {
		if done, err := h.Test(r, &st); !done || err != nil || st.Code == endpoint.Success {
			t.Errorf("message %d, when nothing comes: %v, %v, %v", i, done, st.Code, err)
		}
	}
}
