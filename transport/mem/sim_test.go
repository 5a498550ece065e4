package mem_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

// simOwner notes what its port tells it.
type simOwner struct {
	t      *testing.T
	sim    *mem.Sim
	port   *mem.SimPort
	links  []*mem.SimLink
	got    []uint32 // sequence numbers
	bytes  []byte   // first bytes of payloads
	downs  []time.Duration
	failed error
	room   int

	pulled, unpulled []uint64
}

func (o *simOwner) Frame(_ int32, h *wire.Header, payload []byte) {
	o.got = append(o.got, h.Seq)
	if len(payload) > 0 {
		o.bytes = append(o.bytes, payload[0])
	}
}

func (o *simOwner) Polled() {}
func (o *simOwner) PullFinished(id uint64, ok bool) {
	if ok {
		o.pulled = append(o.pulled, id)
	} else {
		o.unpulled = append(o.unpulled, id)
	}
}
func (o *simOwner) LinkUp(l *mem.SimLink, _ bool) {
	l.Bind(int32(len(o.links)))
	o.links = append(o.links, l)
}
func (o *simOwner) LinkDown(*mem.SimLink)                     { o.downs = append(o.downs, o.sim.Now()) }
func (o *simOwner) DialFailed(_ transport.Address, err error) { o.failed = err }
func (o *simOwner) Writable()                                 { o.room++ }
func (o *simOwner) Timer(arg uint64)                          { o.got = append(o.got, uint32(arg)) }

func simOpen(t *testing.T, s *mem.Sim, i int) *simOwner {
	t.Helper()
	o := &simOwner{t: t, sim: s}
	p, err := s.Open(address(i), uint32(100+i), o)
	if err != nil {
		t.Fatal(err)
	}
	o.port = p
	return o
}

// simPair opens two endpoints and joins them.
func simPair(t *testing.T, o mem.SimOptions) (s *mem.Sim, a, b *simOwner) {
	t.Helper()
	s = mem.NewSim(o)
	a, b = simOpen(t, s, 0), simOpen(t, s, 1)
	a.port.Dial(address(1))
	for len(a.links) == 0 && s.Step() {
	}
	if len(a.links) != 1 {
		t.Fatal("the dial is not answered")
	}
	s.RunUntil(s.Now() + time.Second)
	return s, a, b
}

func simSend(l *mem.SimLink, first, count int) (sent int) {
	for i := range count {
		if !l.Send(&wire.Header{Kind: wire.Eager, Seq: uint32(first + i)}, nil, 0) {
			break
		}
		sent++
	}
	return sent
}

func inOrder(count int) []uint32 {
	var n []uint32
	for i := range count {
		n = append(n, uint32(i))
	}
	return n
}

func TestSimSafeKeepsOrder(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: mem.Safe, Latency: mem.Exponential(0, time.Millisecond)})
	if _, session := a.links[0].Peer(); session != 101 {
		t.Errorf("the peer's session is %d", session)
	}
	simSend(a.links[0], 0, 500)
	s.RunUntil(s.Now() + time.Second)
	if !slices.Equal(b.got, inOrder(500)) || s.UnderWay() != 0 {
		t.Errorf("got %v, %d under way", b.got, s.UnderWay())
	}
}

func TestSimDatagramsAreHarmed(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{
		Seed: 1, Medium: mem.Datagrams, Latency: mem.Uniform(0, time.Millisecond), Loss: 0.2, Duplicate: 0.1,
	})
	simSend(a.links[0], 0, 1000)
	s.RunUntil(s.Now() + time.Second)
	h := s.History()
	if h.Lost < 150 || h.Lost > 250 || h.Twice < 40 || h.Twice > 120 || len(b.got) != int(1000-h.Lost+h.Twice) {
		t.Errorf("%d arrived, history %+v", len(b.got), h)
	}
	if slices.IsSorted(b.got) {
		t.Error("nothing is out of order")
	}
	if s.UnderWay() != 0 {
		t.Errorf("%d frames are under way when all is over", s.UnderWay())
	}
}

// TestSimDatagramsGoToTheAddress: whoever sits at an address when a datagram arrives
// gets it, as a new association if need be.
func TestSimDatagramsGoToTheAddress(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Latency: mem.Fixed(time.Millisecond)})
	b.port.Close()
	simSend(a.links[0], 0, 1)
	s.RunUntil(s.Now() + 500*time.Microsecond)
	again := simOpen(t, s, 1)
	s.RunUntil(s.Now() + time.Second)
	if len(a.downs) != 0 || len(again.links) != 1 || !slices.Equal(again.got, inOrder(1)) {
		t.Errorf("downs %v, links %d, got %v", a.downs, len(again.links), again.got)
	}
}

// TestSimCut: of what is under way a cut lets the beginning pass, and nothing after
// the first frame that is lost. Both sides learn of it, each in its own time.
func TestSimCut(t *testing.T) {
	for seed := range uint64(50) {
		s, a, b := simPair(t, mem.SimOptions{
			Seed: seed, Medium: mem.Healing, Latency: mem.Exponential(0, time.Millisecond), Notice: mem.Exponential(0, 3*time.Millisecond),
		})
		l := a.links[0]
		simSend(l, 0, 100)
		s.RunUntil(s.Now() + time.Duration(seed)*100*time.Microsecond)
		if !s.Cut(address(0), address(1)) {
			t.Fatal("there is no link to cut")
		}
		simSend(l, 100, 10)
		s.RunUntil(s.Now() + time.Minute)
		if len(a.downs) != 1 || len(b.downs) != 1 {
			t.Fatalf("seed %d: downs %v and %v", seed, a.downs, b.downs)
		}
		if !slices.Equal(b.got, inOrder(len(b.got))) {
			t.Fatalf("seed %d: there is a gap in %v", seed, b.got)
		}
		if s.UnderWay() != 0 {
			t.Fatalf("seed %d: %d frames are under way", seed, s.UnderWay())
		}
	}
}

func TestSimPartition(t *testing.T) {
	apart := func(a transport.Address) int { return int(a.Endpoint) }
	for _, medium := range []mem.SimMedium{mem.Datagrams, mem.Safe, mem.Healing} {
		s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: medium, Latency: mem.Fixed(time.Millisecond)})
		simSend(a.links[0], 0, 3)
		s.Partition(apart)
		a.port.Dial(address(1))
		s.RunUntil(s.Now() + time.Second)
		arrived := len(b.got)
		if medium != mem.Datagrams && !errors.Is(a.failed, transport.ErrNoRoute) {
			t.Errorf("%v: a dial across the partition gives %v", medium, a.failed)
		}
		s.Partition(nil)
		s.RunUntil(s.Now() + time.Second)
		if want := medium == mem.Safe; arrived > 0 && medium != mem.Healing || (len(b.got) == 3) != want && medium != mem.Healing {
			t.Errorf("%v: %d frames arrived during the partition, %d after", medium, arrived, len(b.got))
		}
		if cut := len(a.downs) == 1; cut != (medium == mem.Healing) {
			t.Errorf("%v: downs %v", medium, a.downs)
		}
	}
}

func TestSimCloseAfterFrames(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: mem.Safe, Latency: mem.Exponential(0, time.Millisecond)})
	simSend(a.links[0], 0, 3)
	a.port.Close()
	s.RunUntil(s.Now() + 100*time.Millisecond)
	if !slices.Equal(b.got, inOrder(3)) || len(b.downs) != 1 {
		t.Errorf("got %v, downs %v", b.got, b.downs)
	}
	b.port.Dial(address(0))
	s.RunUntil(s.Now() + time.Second)
	if !errors.Is(b.failed, transport.ErrNoPeer) {
		t.Errorf("a dial to a closed endpoint gives %v", b.failed)
	}
}

func TestSimCapacity(t *testing.T) {
	for _, medium := range []mem.SimMedium{mem.Datagrams, mem.Safe, mem.Healing} {
		s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: medium, Capacity: 4, Latency: mem.Fixed(time.Millisecond)})
		if n := simSend(a.links[0], 0, 10); n != 4 || s.History().Again != 1 {
			t.Errorf("%v: %d frames went into a link for 4", medium, n)
		}
		b.port.SetPoll(5 * time.Millisecond)
		s.RunUntil(s.Now() + 3*time.Millisecond)
		if a.room != 0 {
			t.Errorf("%v: there is room although the frames are not taken", medium)
		}
		s.RunUntil(s.Now() + 10*time.Millisecond)
		if a.room != 1 || simSend(a.links[0], 4, 10) != 4 {
			t.Errorf("%v: told %d times that there is room", medium, a.room)
		}
	}
}

func TestSimBandwidth(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: mem.Safe, Bandwidth: 10, MaxFrame: 1000, Latency: mem.Fixed(0)})
	began, payload := s.Now(), make([]byte, 1000-wire.MaxHeader)
	for i := range 5 {
		a.links[0].Send(&wire.Header{Kind: wire.Eager, Seq: uint32(i), Length: uint32(len(payload))}, &wire.Vec{First: payload}, 0)
	}
	for len(b.got) < 5 && s.Step() {
	}
	if took := s.Now() - began; took != 500*time.Microsecond {
		t.Errorf("5,000 bytes at 10 a microsecond took %v", took)
	}
}

// TestSimRetains: the payload of pull data stays in the sender's memory until it
// arrives or is reclaimed.
func TestSimRetains(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: mem.Healing, Retains: true, Latency: mem.Fixed(time.Millisecond)})
	payload := []byte{1}
	send := func(kind wire.Kind) {
		a.links[0].Send(&wire.Header{Kind: kind, Length: 1}, &wire.Vec{First: payload}, 0)
	}
	send(wire.PullData)
	send(wire.Eager)
	a.links[0].Reclaim()
	payload[0] = 2
	send(wire.PullData)
	send(wire.Eager)
	payload[0] = 3
	s.RunUntil(s.Now() + time.Second)
	if want := []byte{1, 1, 3, 2}; !slices.Equal(b.bytes, want) {
		t.Errorf("payloads %v, want %v", b.bytes, want)
	}
}

func TestSimTimersAndTamper(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: mem.Safe, Latency: mem.Fixed(time.Microsecond)})
	a.port.StartTimer(2*time.Millisecond, 22)
	a.port.StartTimer(time.Millisecond, 11)
	a.port.StartTimer(time.Millisecond, 12)
	s.SetTamper(func(h *wire.Header, payload []byte) int {
		payload[0]++
		return int(h.Seq)
	})
	for seq := range uint32(3) {
		a.links[0].Send(&wire.Header{Kind: wire.Eager, Length: 4, Seq: seq},
			&wire.Vec{First: binary.LittleEndian.AppendUint32(nil, 7)}, 0)
	}
	s.RunUntil(s.Now() + time.Second)
	if !slices.Equal(a.got, []uint32{11, 12, 22}) {
		t.Errorf("timers %v", a.got)
	}
	if !slices.Equal(b.got, []uint32{1, 2, 2}) || !slices.Equal(b.bytes, []byte{8, 8, 8}) {
		t.Errorf("got %v with %v", b.got, b.bytes)
	}
}

// TestSimRepeats: the seed decides everything.
func TestSimRepeats(t *testing.T) {
	play := func(seed uint64) uint64 {
		s, a, _ := simPair(t, mem.SimOptions{
			Seed: seed, Latency: mem.HeavyTail(time.Microsecond, time.Second), Loss: 0.1, Duplicate: 0.1,
		})
		simSend(a.links[0], 0, 200)
		s.RunUntil(time.Minute)
		return s.History().Hash
	}
	if first := play(1); play(1) != first || play(2) == first {
		t.Errorf("seed 1 gives %x and %x, seed 2 %x", first, play(1), play(2))
	}
}

// TestSimDoesNotAllocate: frames and events are used again.
func TestSimDoesNotAllocate(t *testing.T) {
	s, a, b := simPair(t, mem.SimOptions{Seed: 1, Medium: mem.Safe, Latency: mem.Uniform(0, time.Millisecond)})
	payload := wire.Vec{First: make([]byte, 5000)}
	h := wire.Header{Kind: wire.Eager, Length: 5000}
	b.got = make([]uint32, 0, 1<<16)
	b.bytes = make([]byte, 0, 1<<16)
	turn := func() {
		for range 20 {
			a.links[0].Send(&h, &payload, 0)
		}
		s.RunUntil(s.Now() + 10*time.Millisecond)
	}
	turn()
	if n := testing.AllocsPerRun(20, turn); n != 0 {
		t.Errorf("%v allocations in a turn", n)
	}
}
