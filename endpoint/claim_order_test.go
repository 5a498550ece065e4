package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/transport/wire"
)

// resumes reports whether the session that the house has entered with peer 2 can still be resumed.
func (h *house) resumes(session wire.ConnectInfo) bool {
	l := h.dialled(2)
	h.frame(l, wire.Header{Kind: wire.Resume, Flags: wire.HasAck, Session: session.Session, Ack: session.Session}, session.Token[:])
	return len(l.sent) == 1 && l.sent[0].Header.Kind == wire.Resume
}

// What was asked before a session began does not end it when its link dies: the peer has gone on since, or it was a
// former incarnation of it, whose end has not been noticed.
func TestOlderClaimEndsNoSession(t *testing.T) {
	for what, number := range map[string]uint32{"the peer, with a number before": 100, "a former incarnation": 900000} {
		t.Run(what, func(t *testing.T) {
			h, ours, theirs := crossing(t, endpointtest.Healing(false))
			h.frame(theirs, wire.Header{Kind: wire.Connect}, connectOf(2, number, 1).Append(nil))
			session, ok := h.connect(ours, 2, 101)
			if !ok || !h.host.dropped[theirs] {
				t.Fatalf("connected: %v, other link given up: %v", ok, h.host.dropped[theirs])
			}
			h.LinkDown(h.host.number[ours], ours)
			if !h.resumes(session) {
				t.Error("the session is over")
			}
		})
	}
}

// A connect that was held under the number of the session is answered when the session's link dies.
func TestClaimOfTheSessionIsKept(t *testing.T) {
	h, ours, theirs := crossing(t, endpointtest.Healing(false))
	h.frame(theirs, wire.Header{Kind: wire.Connect}, connectOf(2, 101, 1).Append(nil))
	if _, ok := h.connect(ours, 2, 101); !ok || h.host.dropped[theirs] {
		t.Fatal("connected:", ok, "other link given up:", h.host.dropped[theirs])
	}
	h.LinkDown(h.host.number[ours], ours)
	if c, ok := h.lastReply(theirs); !ok || c.Status != 0 {
		t.Error("not answered:", theirs.sent)
	}
}

// lastReply returns the last connect-reply that was said over a link.
func (h *house) lastReply(l *wiretap) (c wire.ConnectInfo, ok bool) {
	for _, f := range l.sent {
		if f.Header.Kind == wire.ConnectReply {
			c, _ = wire.ParseConnect(f.Data)
			ok = true
		}
	}
	return c, ok
}

// While a session has no link, a connect of another incarnation ends it only if it comes again: only one that lives
// hears that it shall ask again.
func TestLateConnectEndsNoBrokenSession(t *testing.T) {
	const other = 900000
	for when, claim := range map[string]func(h *house, good, theirs *wiretap){
		"after the break": func(h *house, good, theirs *wiretap) {
			h.LinkDown(h.host.number[good], good)
			h.connect(theirs, 2, other)
		},
		"before": func(h *house, good, theirs *wiretap) {
			h.connect(theirs, 2, other)
			h.LinkDown(h.host.number[good], good)
		},
	} {
		for _, lives := range []bool{false, true} {
			h := newHouse(endpointtest.Healing(false), endpoint.Config{})
			good := h.dialled(2)
			session, _ := h.connect(good, 2, 100)
			theirs := h.dialled(2)
			claim(h, good, theirs)
			if c, ok := h.lastReply(theirs); !ok || c.Status != uint32(endpoint.BadSession) {
				t.Errorf("%s: answered with %v", when, theirs.sent)
			}
			if !lives {
				if !h.resumes(session) {
					t.Errorf("%s: a connect that does not come again has ended the session", when)
				}
			} else if _, ok := h.connect(theirs, 2, other+1); !ok {
				t.Errorf("%s: a connect that comes again is not taken: %v", when, theirs.sent)
			}
		}
	}
}

// A connect with a number from before the session ends it neither over its link nor over another one.
func TestOldNumberEndsNoSession(t *testing.T) {
	for _, broken := range []bool{false, true} {
		h := newHouse(endpointtest.Healing(false), endpoint.Config{})
		good := h.dialled(2)
		session, _ := h.connect(good, 2, 100)
		if broken {
			h.LinkDown(h.host.number[good], good)
		}
		theirs := h.dialled(2)
		c, _ := h.connect(theirs, 2, 99)
		if c.Status != uint32(endpoint.BadSession) || c.Filter != 100 || !h.resumes(session) {
			t.Errorf("broken %v: answered with %+v, and the session is over", broken, c)
		}
	}
}

// A reply to a former incarnation does not answer a connect of this one: their attempts have other numbers.
func TestAttemptsDifferByIncarnation(t *testing.T) {
	seen := map[uint32]bool{}
	for session := uint32(1); session < 5; session++ {
		e := endpoint.New(endpoint.Config{NIC: 1, Session: session * 1000, Filter: 7}, nobody{})
		e.Iconnect(2, 0, 7, 0, nil)
		l := &wiretap{caps: endpointtest.Lossy(false)}
		e.LinkUp(e.LinkOwner(2, 0, l, true), l, true)
		c, err := wire.ParseConnect(l.sent[0].Data)
		if err != nil || seen[c.Attempt] {
			t.Errorf("session %d: attempt %d is known, or %v", session, c.Attempt, err)
		}
		seen[c.Attempt] = true
	}
}

// A reply that an offered number is over tells a side that has offered another one since nothing: the last number that its
// sender names is that of the session which both are in.
func TestLateRefusalEndsNoSession(t *testing.T) {
	h := newHouse(endpointtest.Lossy(false), endpoint.Config{})
	l := h.dialled(2)
	h.connect(l, 2, 100)
	h.Iconnect(2, 0, 7, 0, nil) // offers the first number once more, and comes late
	first, _ := wire.ParseConnect(l.sent[len(l.sent)-1].Data)
	second, ok := h.connect(l, 2, 101) // the peer has left that session, and this side hears of it by this
	if !ok || second.Session == first.Session {
		t.Fatalf("second session: %+v behind %+v", second, first)
	}
	over := connectOf(2, 101, first.Attempt)
	over.Status, over.Filter = uint32(endpoint.BadSession), second.Session
	h.frame(l, wire.Header{Kind: wire.ConnectReply, Session: first.Session}, over.Append(nil))
	l.sent = nil
	h.frame(l, wire.Header{Kind: wire.Ack, Flags: wire.HasAck, Session: second.Session, Ack: 101, Match: 1}, nil)
	if len(l.sent) != 1 || l.sent[0].Header.Kind != wire.Ack {
		t.Errorf("the session is over: %v", l.sent)
	}
}
