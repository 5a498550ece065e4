package endpoint_test

import (
	"bytes"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/match"
	"gomx/transport/wire"
)

// wiretap is a link whose other end is the test.
type wiretap struct {
	caps wire.Caps
	sent []endpointtest.Frame
	hear func(h *wire.Header) // if it is set: of each frame, as it is sent
}

func (l *wiretap) Caps() *wire.Caps { return &l.caps }

func (l *wiretap) Send(h *wire.Header, v *wire.Vec, off int) bool {
	if l.hear != nil {
		l.hear(h)
	}
	f := endpointtest.Frame{Header: *h, Data: make([]byte, h.Length)}
	if h.Length > 0 {
		v.Gather(f.Data, off)
	}
	l.sent = append(l.sent, f)
	return true
}

func (l *wiretap) Reclaim()                                            {}
func (l *wiretap) Export(dst []byte, _ *wire.Vec) ([]byte, uint64)     { return dst, 0 }
func (l *wiretap) Unexport(uint64, bool)                               {}
func (l *wiretap) Pull([]byte, *wire.Vec, int, uint64) wire.PullResult { return wire.PullFailed }

// keeper is a host that notes which links were given up, and under which number links
// are known.
type keeper struct {
	nobody
	random  uint64
	dropped map[wire.Link]bool
	number  map[wire.Link]int32
}

func (k *keeper) Random() uint64                    { k.random++; return k.random * 0x9e3779b97f4a7c15 }
func (k *keeper) Drop(_ int32, l wire.Link, _ bool) { k.dropped[l] = true }
func (k *keeper) Adopted(peer int32, l wire.Link)   { k.number[l] = peer }

// house is an endpoint, and what the test does to it from outside.
type house struct {
	*endpoint.Engine
	host *keeper
	caps wire.Caps
}

func newHouse(caps wire.Caps, cfg endpoint.Config) *house {
	k := &keeper{dropped: map[wire.Link]bool{}, number: map[wire.Link]int32{}}
	cfg.NIC, cfg.Session, cfg.Filter, cfg.EagerLimit, cfg.CopyLimit = 1, 1, 7, -1, -1
	return &house{endpoint.New(cfg, k), k, caps}
}

// dialled has somebody dial under an address.
func (h *house) dialled(nic uint64) *wiretap {
	l := &wiretap{caps: h.caps}
	i := h.LinkOwner(nic, 0, l, false)
	h.host.number[l] = i
	h.LinkUp(i, l, false)
	return l
}

func (h *house) frame(l *wiretap, head wire.Header, payload []byte) {
	head.Length = uint32(len(payload))
	h.Frame(h.host.number[l], &head, payload)
}

// connect says a connect, and returns the answer if there is one.
func (h *house) connect(l *wiretap, nic uint64, session uint32) (c wire.ConnectInfo, ok bool) {
	l.sent = nil
	h.frame(l, wire.Header{Kind: wire.Connect}, connectOf(nic, session, 0).Append(nil))
	for _, f := range l.sent {
		if f.Header.Kind == wire.ConnectReply {
			c, _ = wire.ParseConnect(f.Data)
			return c, c.Status == 0
		}
	}
	return c, false
}

func connectOf(nic uint64, session, attempt uint32) *wire.ConnectInfo {
	return &wire.ConnectInfo{
		Version: wire.Version, Bytes: 1 << 14, Headers: 64, Session: session, Filter: 7, NIC: nic, EagerMax: 1 << 20, Attempt: attempt,
	}
}

func eager(session, seq uint32) wire.Header {
	return wire.Header{Kind: wire.Eager, Match: 5, Session: session, Seq: seq}
}

// Whoever dials under the address of a peer whose link lives, and connects, ends
// nothing: the link stays, what the stranger sends is not taken, and the peer's answer
// sends the stranger away. When the link dies, a claim is taken at once.
func TestClaimEndsNothingThatLives(t *testing.T) {
	for name, caps := range map[string]wire.Caps{"safe": endpointtest.Reliable(false), "healing": endpointtest.Healing(false)} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(caps, endpoint.Config{})
			good := h.dialled(2)
			session, ok := h.connect(good, 2, 100)
			if !ok {
				t.Fatal("not connected")
			}
			thief := h.dialled(2)
			if _, ok := h.connect(thief, 2, 5000); ok || h.host.dropped[good] {
				t.Fatal("the claim was taken")
			}
			h.frame(thief, eager(session.Session, 100), []byte("forged"))
			var st endpoint.Status
			if found, _ := h.Probe(5, match.MaskNone, &st); found {
				t.Fatal("a message of the stranger was taken")
			}
			h.frame(good, eager(session.Session, 100), []byte("real"))
			if found, _ := h.Probe(5, match.MaskNone, &st); !found {
				t.Fatal("the session does not go on")
			}
			h.frame(good, wire.Header{Kind: wire.Ack, Flags: ackFlags(caps), Session: session.Session, Ack: session.Session}, nil)
			if !h.host.dropped[thief] || h.host.dropped[good] || h.Counters().FalseClaims != 1 {
				t.Errorf("when the peer answered: %+v", h.Counters())
			}

			heir := h.dialled(2)
			h.connect(heir, 2, 7000)
			heir.sent = nil
			h.LinkDown(h.host.number[good], good)
			if len(heir.sent) == 0 || heir.sent[0].Header.Kind != wire.ConnectReply {
				t.Error("the claim was not taken when the link died:", heir.sent)
			}
		})
	}
}

func ackFlags(c wire.Caps) wire.Flags {
	if c.Heals {
		return wire.HasAck
	}
	return 0
}

// crossing is a house that has dialled its peer 2, which is the larger address, asked it over
// that link, and given up. The peer has dialled as well.
func crossing(t *testing.T, caps wire.Caps) (h *house, ours, theirs *wiretap) {
	h = newHouse(caps, endpoint.Config{})
	c := h.Iconnect(2, 0, 7, 0, nil)
	ours = &wiretap{caps: caps}
	i := h.LinkOwner(2, 0, ours, true)
	h.host.number[ours] = i
	h.LinkUp(i, ours, true)
	if len(ours.sent) != 1 || ours.sent[0].Header.Kind != wire.Connect {
		t.Fatal("not asked:", ours.sent)
	}
	if gone, err := h.Cancel(c); !gone || err != nil {
		t.Fatal("not given up:", gone, err)
	}
	return h, ours, h.dialled(2)
}

// A peer that has been asked over our link goes over to it, whatever has become of that
// connect. What it has asked over its own link before is not answered, unless our link
// turns out to be of no use to it.
func TestCrossingLinkWaitsForTheOther(t *testing.T) {
	for name, caps := range map[string]wire.Caps{"safe": endpointtest.Reliable(false), "healing": endpointtest.Healing(false)} {
		for use, end := range map[string]func(h *house, ours, theirs *wiretap){
			"dies": func(h *house, ours, _ *wiretap) { h.LinkDown(h.host.number[ours], ours) },
			"is not known to the peer": func(h *house, ours, _ *wiretap) {
				info := wire.ConnectInfo{Version: wire.Version, Session: 100, Status: uint32(endpoint.BadKey), NIC: 2, Attempt: 1}
				h.frame(ours, wire.Header{Kind: wire.ConnectReply}, info.Append(nil))
			},
			"does not reach the peer": func(h *house, _, theirs *wiretap) {
				h.frame(theirs, wire.Header{Kind: wire.Connect}, connectOf(2, 100, 1).Append(nil))
			},
		} {
			t.Run(name+" "+use, func(t *testing.T) {
				h, ours, theirs := crossing(t, caps)
				for attempt := uint32(1); attempt < 3; attempt++ {
					h.frame(theirs, wire.Header{Kind: wire.Connect}, connectOf(2, 100, attempt).Append(nil))
				}
				if len(theirs.sent) > 0 || len(h.host.dropped) > 0 {
					t.Fatal("answered before the peer has heard of our link:", theirs.sent, h.host.dropped)
				}
				end(h, ours, theirs)
				if len(theirs.sent) == 0 || theirs.sent[0].Header.Kind != wire.ConnectReply || h.host.dropped[theirs] {
					t.Error("not answered when our link was of no use:", theirs.sent)
				}
			})
		}
	}
}

// A session that begins over our link goes on when the other link, whose connect is held, ends.
func TestCrossingLinkGoesWithTheSession(t *testing.T) {
	h, ours, theirs := crossing(t, endpointtest.Reliable(false))
	h.frame(theirs, wire.Header{Kind: wire.Connect}, connectOf(2, 100, 1).Append(nil))
	if _, ok := h.connect(ours, 2, 100); !ok {
		t.Fatal("not connected over our link")
	}
	h.LinkDown(h.host.number[theirs], theirs)
	if h.host.dropped[ours] || len(theirs.sent) > 0 {
		t.Error("the session's link is given up, or the other one answered:", theirs.sent)
	}
}

// A session is resumed by whoever shows the token, and by nobody else, whatever the
// state of the old link.
func TestResumeNeedsTheToken(t *testing.T) {
	h := newHouse(endpointtest.Healing(false), endpoint.Config{})
	good := h.dialled(2)
	session, _ := h.connect(good, 2, 100)
	resume := wire.Header{Kind: wire.Resume, Flags: wire.HasAck, Session: session.Session, Ack: session.Session}
	to, _ := h.AddrOf(h.host.number[good])
	if _, err := h.Send(&endpoint.Outgoing{First: []byte("secret"), To: to, Match: 1}, nil); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []bool{false, true} {
		if broken {
			h.LinkDown(h.host.number[good], good)
		}
		for _, proof := range [][]byte{nil, make([]byte, wire.TokenSize), bytes.Repeat([]byte{1}, wire.TokenSize), session.Token[:8]} {
			thief := h.dialled(2)
			h.frame(thief, resume, proof)
			if !h.host.dropped[thief] || len(thief.sent) > 0 {
				t.Fatalf("broken %v, proof %x: taken, and %v was said", broken, proof, thief.sent)
			}
		}
	}
	back := h.dialled(2)
	h.frame(back, resume, session.Token[:])
	h.Flush()
	kinds := []wire.Kind{}
	for _, f := range back.sent {
		kinds = append(kinds, f.Header.Kind)
	}
	if len(kinds) != 2 || kinds[0] != wire.Resume || kinds[1] != wire.Eager {
		t.Errorf("the peer itself gets %v", kinds)
	}
	again := h.dialled(2) // it lost that link, and we have not noticed
	h.frame(again, resume, session.Token[:])
	if !h.host.dropped[back] || h.host.dropped[again] || h.Counters().BadProofs != 8 {
		t.Errorf("the second time: %+v", h.Counters())
	}
}

// What a link has brought before it was given up may be taken afterwards, and gives up nothing more.
func TestFramesOfLostLink(t *testing.T) {
	h := newHouse(endpointtest.Healing(false), endpoint.Config{})
	l := h.dialled(2)
	session, _ := h.connect(l, 2, 100)
	resume := wire.Header{Kind: wire.Resume, Flags: wire.HasAck, Session: session.Session, Ack: session.Session}
	for range 2 {
		h.frame(l, resume, make([]byte, wire.TokenSize))
	}
	if c := h.Counters(); len(h.host.dropped) != 1 || !h.host.dropped[l] || c.BadProofs != 1 || c.Breaks != 1 {
		t.Errorf("%d links given up, %+v", len(h.host.dropped), c)
	}
}

func TestSessionNumbersDifferByPeer(t *testing.T) {
	h := newHouse(endpointtest.Reliable(false), endpoint.Config{})
	seen := map[uint32]bool{}
	for nic := uint64(2); nic < 12; nic++ {
		c, ok := h.connect(h.dialled(nic), nic, 100)
		if !ok || seen[c.Session] {
			t.Errorf("peer %d: connected %v under %#x", nic, ok, c.Session)
		}
		seen[c.Session] = true
	}
}

// Those who dial under ever new addresses, and don't know the filter, leave nothing.
func TestStrangersAreBounded(t *testing.T) {
	h := newHouse(endpointtest.Reliable(false), endpoint.Config{Strangers: 8})
	friend := h.dialled(2)
	h.connect(friend, 2, 100)
	before := h.Peers()
	for nic := uint64(1000); nic < 3000; nic++ {
		l := h.dialled(nic)
		if nic%2 == 0 {
			info := wire.ConnectInfo{Version: wire.Version, Bytes: 1 << 14, Headers: 64, Session: 9, Filter: 1, NIC: nic}
			h.frame(l, wire.Header{Kind: wire.Connect}, info.Append(nil))
		}
	}
	if n := h.Peers() - before; n > 9 {
		t.Errorf("%d entries are left", n)
	}
	if h.host.dropped[friend] || len(h.host.dropped) != 2000-8 || h.Counters().Strangers != 2000-8 {
		t.Errorf("%d links given up, friend's %v", len(h.host.dropped), h.host.dropped[friend])
	}
}

// Messages in pieces share one bound. The ones that have been coming longest make room.
func TestPiecesAreBounded(t *testing.T) {
	const size = 1 << 20
	h := newHouse(endpointtest.Healing(false), endpoint.Config{PieceBytes: 4 * size})
	for nic := uint64(2); nic < 12; nic++ {
		l := h.dialled(nic)
		c, _ := h.connect(l, nic, 100)
		head := eager(c.Session, 100)
		head.Flags, head.Total = wire.HasRange, size
		h.frame(l, head, make([]byte, 2000))
	}
	if n := h.Counters().PiecesMade; n != 6 {
		t.Errorf("%d links were given up, want 6", n)
	}
}
