package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/match"
	"gomx/transport/wire"
)

// FuzzFrame lets a hostile peer throw frames of its own making at an endpoint
// that is also talking to an honest one. Whatever comes, nothing panics, memory
// stays bounded, and the conversation with the honest peer is not harmed.
func FuzzFrame(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(history(seed, 300))
	}
	for kind := wire.Eager; kind <= wire.AtomicData; kind++ {
		f.Add([]byte{byte(kind), 0, byte(kind), 7, 0xff, byte(kind), 3, 1, 1, 1, 1, 1, 1, 1})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2000 {
			return
		}
		newSiege(t, b).run()
	})
}

// siege is a victim between an honest peer and a hostile one.
type siege struct {
	t                     *testing.T
	bytes                 []byte
	world                 *endpointtest.World
	victim, honest, enemy *endpointtest.Node
	handles               []endpoint.Handle    // of requests that concern the enemy
	window, secret        *endpointtest.Buffer // that the enemy may write, and may not
	ids                   [2]uint64
	honestRecv            *endpointtest.Buffer
	honestHandle          endpoint.Handle
}

func newSiege(t *testing.T, b []byte) *siege {
	s := &siege{t: t, bytes: b, world: new(endpointtest.World)}
	how := s.next()
	s.world.Caps = endpointtest.Reliable(how&1 != 0)
	switch {
	case how&2 != 0:
		s.world.Caps = endpointtest.Lossy(how&1 != 0)
	case how&32 != 0:
		s.world.Caps = endpointtest.Healing(how&1 != 0)
	}
	s.world.Pulls = endpointtest.PullMode(how >> 2 & 3)
	cfg := endpoint.Config{Session: 0x100, EagerLimit: -1, CopyLimit: -1, UnexpectedBytes: 20000}
	s.victim = s.world.Add("v", cfg)
	s.honest = s.world.Add("h", cfg)
	s.enemy = s.world.Add("e", cfg)
	s.victim.Engine.SetHandler(how&16 != 0)
	for _, peer := range []*endpointtest.Node{s.honest, s.enemy} {
		h := s.victim.Connect(peer, 0, 0)
		s.world.Run()
		var st endpoint.Status
		if done, _ := s.victim.Engine.Test(h, &st); !done || st.Code != endpoint.Success {
			t.Fatalf("connect: %v %v", done, st.Code)
		}
	}
	s.occupy()
	return s
}

func (s *siege) next() byte {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return b
}

// occupy leaves requests in all states with the enemy, and one with the honest peer.
func (s *siege) occupy() {
	v := s.victim
	enemy, _ := v.Engine.AddrOf(v.PeerOf(s.enemy))
	send := func(n int, level endpoint.Level) {
		h, err := v.Engine.Send(&endpoint.Outgoing{First: make([]byte, n), To: enemy, Match: 5}, &endpoint.SendOptions{Level: level})
		if err != nil {
			s.t.Fatal(err)
		}
		s.handles = append(s.handles, h)
	}
	send(8, endpoint.Matched)
	send(9000, endpoint.BufferFree)
	send(9000, endpoint.Matched)
	send(8, endpoint.Acknowledged)
	for _, n := range []int{8, 9000} {
		put, err := v.Engine.Put(wire.Vec{First: make([]byte, n)}, enemy, 3, 0, 5, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		get, err := v.Engine.Get(endpointtest.NewBuffer(n/2, n-n/2).Vec, enemy, 3, 0, 5, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		s.handles = append(s.handles, put, get)
	}
	for _, fetch := range []bool{false, true} {
		a := wire.AtomicWhat{Op: wire.AtomicSum, Type: wire.AtomicInt64, Fetch: fetch}
		h, err := v.Engine.Atomic(a, make([]byte, 40), enemy, 3, 0, 5, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		s.handles = append(s.handles, h)
	}
	s.openWindows()
	for range 3 {
		into := endpointtest.NewBuffer(3000, 6000).Vec
		h, err := v.Engine.Recv(&endpoint.Posting{First: into.First, Value: 1, Mask: 0xff}, &endpoint.RecvOptions{Rest: into.Rest})
		if err != nil {
			s.t.Fatal(err)
		}
		s.handles = append(s.handles, h)
	}
	s.honestRecv = endpointtest.NewBuffer(9000)
	var err error
	if s.honestHandle, err = v.Engine.Recv(&endpoint.Posting{First: s.honestRecv.Vec.First, Value: 0xaaaa00, Mask: match.MaskNone}, &endpoint.RecvOptions{Rest: s.honestRecv.Vec.Rest}); err != nil {
		s.t.Fatal(err)
	}
}

// openWindows tells the enemy of two windows, of which it may write one.
func (s *siege) openWindows() {
	s.window, s.secret = endpointtest.NewBuffer(9000), endpointtest.NewBuffer(9000)
	endpointtest.Fill(&s.secret.Vec, 55)
	var err error
	if s.ids[0], err = s.victim.Engine.OpenWindow(s.window.Vec.First, endpoint.MayRead|endpoint.MayWrite, 0x77); err != nil {
		s.t.Fatal(err)
	}
	if s.ids[1], err = s.victim.Engine.OpenWindow(s.secret.Vec.First, endpoint.MayRead, 0x78); err != nil {
		s.t.Fatal(err)
	}
}

// checkWindows looks whether the enemy has written what it may not.
func (s *siege) checkWindows() {
	if err := s.secret.Check(55, 9000); err != nil {
		s.t.Fatal("the window for reading:", err)
	}
	clear(s.window.Vec.First)
	if err := s.window.CheckAround(); err != nil {
		s.t.Fatal("the window for writing:", err)
	}
}

func (s *siege) run() {
	v := s.victim.Engine
	for len(s.bytes) > 0 {
		switch op := s.next(); op & 15 {
		case 0:
			s.world.Now += endpoint.Tick(op >> 4 * 10)
			v.Advance(s.world.Now)
		case 1:
			v.Flush()
		case 2:
			v.Cancel(s.handles[int(op>>4)%len(s.handles)])
		case 3:
			s.relink(op >> 4)
		case 4:
			s.closeWindow(op >> 4)
		default:
			h, payload := s.frame()
			v.Frame(s.victim.PeerOf(s.enemy), &h, payload)
		}
		if d := v.Depths(); d.Bytes > d.Bound+9000 {
			s.t.Fatalf("%d unexpected bytes, bound %d", d.Bytes, d.Bound)
		}
	}
	s.checkWindows()
	s.talk()
	s.checkWindows()
}

// closeWindow now and then takes the windows away from the enemy.
func (s *siege) closeWindow(how byte) {
	if how == 7 {
		v := s.victim.Engine
		v.CloseWindow(s.ids[0])
		v.CloseWindow(s.ids[1])
	}
}

// relink breaks the victim's link to the enemy, if such links heal. The next one has
// frames of another size, and the enemy's own protocol is not heard on it.
func (s *siege) relink(how byte) {
	if !s.world.Caps.Heals {
		return
	}
	honest := s.world.Caps
	s.world.Caps.MaxFrame = []int{2048, 1100, 4000, 9000}[how&3]
	s.world.Caps.Pull = how&4 != 0
	s.world.Break(s.victim, s.enemy, nil)
	s.world.Settle()
	s.world.Caps = honest
}

// frame decodes a frame. Fields are often near to what makes sense.
func (s *siege) frame() (wire.Header, []byte) {
	near := func(values ...uint64) uint64 {
		b := s.next()
		if int(b&15) < len(values) {
			return values[b&15] + uint64(b>>6)
		}
		return uint64(b) << (b & 63)
	}
	handle := uint64(0)
	if i := int(s.next()); i < 128 {
		handle = uint64(s.handles[i%len(s.handles)])
	}
	h := wire.Header{Kind: wire.Kind(s.next() % byte(wire.AtomicData+1)), Flags: wire.Flags(s.next() & 15)}
	h.Match = near(1, 1, 0, 0xaaaa00, handle, s.ids[0], s.ids[0], s.ids[1])
	h.Seq = uint32(near(0x100, 0x101, 0x102, 0x103, 0x104, 2048, 1))
	h.Session = uint32(near(0x100, 0x100, 0x100, 0x101))
	h.ID = near(handle, handle, handle)
	h.Total = uint32(near(0, 9000, 9000, 2048, 808, 1, 0x10402, 0x402, 0x10000, 0x80c, 0x1))
	h.Offset = uint32(near(0, 1, 2, 2048, 4096, 8192, 9000))
	h.Ack = uint32(near(0x100, 0x101, 0x103))
	payload := make([]byte, int(near(0, 8, 40, 2048, 808)%2049))
	if h.Kind == wire.Connect || h.Kind == wire.ConnectReply {
		c := wire.ConnectInfo{
			Version: wire.Version, Session: uint32(near(0x100, 0x101, 0x102)), Attempt: uint32(near(1, 2)), Filter: uint32(near(0)),
			NIC: s.enemy.NIC, EagerMax: uint32(near(0, 9000)), Status: uint32(near(0, 0, 10, 11)),
		}
		payload = c.Append(nil)
	}
	h.Length = uint32(len(payload))
	return h, payload
}

// talk has the honest peer send its message at last.
func (s *siege) talk() {
	s.victim.Engine.SetHandler(false)
	msg := endpointtest.NewBuffer(9000)
	endpointtest.Fill(&msg.Vec, 77)
	to, _ := s.honest.Engine.AddrOf(s.honest.PeerOf(s.victim))
	sent, err := s.honest.Engine.Send(&endpoint.Outgoing{First: msg.Vec.First, To: to, Match: 0xaaaa00}, &endpoint.SendOptions{Rest: msg.Vec.Rest, Level: endpoint.Matched})
	if err != nil {
		s.t.Fatal(err)
	}
	for range 50 {
		for s.world.Deliver(s.honest, s.victim) || s.world.Deliver(s.victim, s.honest) {
		}
		s.world.FinishPulls()
		s.victim.Engine.Flush()
		s.honest.Engine.Flush()
		s.world.Now += 10
		s.victim.Engine.Advance(s.world.Now)
		s.honest.Engine.Advance(s.world.Now)
	}
	var got, st endpoint.Status
	done, err := s.victim.Engine.Test(s.honestHandle, &got)
	if err != nil {
		s.t.Fatal(err)
	}
	var stored endpoint.Status
	unmatched, _ := s.victim.Engine.Probe(0xaaaa00, match.MaskNone, &stored)
	if unmatched && stored.Source.Peer == s.victim.PeerOf(s.honest) || done && got.Source.Peer == s.victim.PeerOf(s.enemy) {
		return // the enemy's message had the same match information, and was first
	}
	if done, _ := s.honest.Engine.Test(sent, &st); !done || st.Code != endpoint.Success || got.Code != endpoint.Success {
		s.t.Fatalf("the honest message: %v, %v, %v\n%s", done, st.Code, got.Code, s.victim.Engine.DumpState())
	}
	if err := s.honestRecv.Check(77, 9000); err != nil {
		s.t.Fatal(err)
	}
}
