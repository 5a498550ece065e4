package sim

import (
	"strings"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/internal/testlength"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

// quietPlan is a plan in which nothing goes wrong.
func quietPlan(m mem.SimMedium) Plan {
	return Plan{
		Seed: 7, Medium: m, Endpoints: 3, Messages: 2000,
		Network: mem.SimOptions{Seed: 7, Medium: m, Latency: mem.Fixed(500 * time.Microsecond), MaxFrame: 2048},
		Engine:  endpoint.Config{EagerLimit: -1, CopyLimit: -1, RequestTimeout: 2000},
		Weights: [classes]int{70, 25, 5, 0}, Think: 100 * time.Microsecond, Burst: 8, Posted: 4, Sync: 20, Pending: 32,
	}
}

// nth makes a tamperer that lets all frames pass but the nth one of a kind, of
// those that are long enough to hold contents.
func nth(n int, kind wire.Kind, f func(h *wire.Header, payload []byte) int) func(*wire.Header, []byte) int {
	return func(h *wire.Header, payload []byte) int {
		if h.Kind != kind || kind == wire.Eager && h.Length < 8 {
			return 1
		}
		if n--; n != 0 {
			return 1
		}
		return f(h, payload)
	}
}

// content is what a frame carries of a message.
type content struct {
	match uint64
	data  []byte
}

// doubled replaces the content of a frame by that of the one before it.
func doubled(n int) func(*wire.Header, []byte) int {
	last := map[uint32]content{}
	return func(h *wire.Header, payload []byte) int {
		if h.Kind != wire.Eager || h.Flags&wire.Sync != 0 {
			return 1
		}
		was, ok := last[h.Session]
		last[h.Session] = content{h.Match, append([]byte(nil), payload...)}
		if ok && len(was.data) == len(payload) && messageOf(was.match).to == messageOf(h.Match).to {
			if n--; n == 0 {
				h.Match = was.match
				copy(payload, was.data)
			}
		}
		return 1
	}
}

// swapped exchanges the contents of two eager frames of one length and stream, the
// nth pair of those. The first is still under way when the second leaves.
func swapped(n int) func(*wire.Header, []byte) int {
	type frame struct {
		h       *wire.Header
		payload []byte
	}
	last := map[uint32]frame{}
	return func(h *wire.Header, payload []byte) int {
		if h.Kind != wire.Eager || h.Flags&wire.Sync != 0 {
			return 1
		}
		was, ok := last[h.Session]
		last[h.Session] = frame{h, payload}
		a := message{}
		if ok {
			a = messageOf(was.h.Match)
		}
		if b := messageOf(h.Match); !ok || a.number+1 != b.number || a.from != b.from || a.to != b.to || len(was.payload) != len(payload) {
			return 1
		}
		if n--; n == 0 {
			h.Match, was.h.Match = was.h.Match, h.Match
			fill(payload, h.Match)
			fill(was.payload, was.h.Match)
		}
		return 1
	}
}

// misplaced gives the header of a large message the description of the one before
// it, if the bytes of that are still there.
func misplaced() func(*wire.Header, []byte) int {
	type place struct {
		total uint32
		desc  []byte
	}
	last := map[uint32]place{}
	return func(h *wire.Header, payload []byte) int {
		if h.Kind != wire.Rendezvous || len(payload) == 0 {
			return 1
		}
		was := last[h.Session]
		last[h.Session] = place{h.Total, append([]byte(nil), payload...)}
		if was.total >= h.Total {
			copy(payload, was.desc)
		}
		return 1
	}
}

// flip spoils a bit of the last byte.
func flip(_ *wire.Header, payload []byte) int { payload[len(payload)-1] ^= 4; return 1 }

// arrives makes a frame arrive so many times.
func arrives(copies int) func(*wire.Header, []byte) int {
	return func(*wire.Header, []byte) int { return copies }
}

// TestPlantedFaults spoils one thing in a history that is otherwise quiet. Each must
// be found, and called by its name.
func TestPlantedFaults(t *testing.T) {
	safe := quietPlan(mem.Safe)
	for _, c := range []struct {
		name      string
		datagrams bool
		pulls     bool
		access    int
		tamper    func(*wire.Header, []byte) int
		plant     plant
		finds     string
	}{
		{name: "a flipped bit", tamper: nth(50, wire.Eager, flip), finds: "byte"},
		{name: "a flipped bit in a datagram", datagrams: true, tamper: nth(50, wire.Eager, flip), finds: "byte"},
		{name: "a flipped bit in a block", tamper: nth(5, wire.PullData, flip), finds: "byte"},
		{name: "the description of another message", pulls: true, tamper: misplaced(), finds: "byte"},
		{name: "a frame twice", tamper: nth(50, wire.Eager, arrives(2)), finds: "corrupt"},
		{name: "a frame swallowed", tamper: nth(50, wire.Eager, arrives(0)), finds: "corrupt"},
		{name: "a block swallowed", tamper: nth(5, wire.PullData, arrives(0)), finds: "without reason"},
		{name: "a message twice", tamper: doubled(3), finds: "is delivered twice"},
		{name: "a message before its turn", tamper: swapped(1), finds: "overtook"},
		{name: "a message for another", finds: "gets message",
			tamper: nth(20, wire.Eager, func(h *wire.Header, _ []byte) int { h.Match ^= 1 << 24; return 1 })},
		{name: "a number of no message", finds: "was never sent",
			tamper: nth(20, wire.Eager, func(h *wire.Header, b []byte) int { return invented(&safe, h, b) })},
		{name: "a lost notify", finds: "does not come to an end",
			tamper: nth(20, wire.Notify, func(h *wire.Header, _ []byte) int { h.ID ^= 1 << 40; return 1 })},
		{name: "a notify that lies", finds: "aborted by the peer, or because what it waited for was closed without reason",
			tamper: nth(20, wire.Notify, func(h *wire.Header, _ []byte) int { h.Offset = wire.Failed; return 1 })},
		{name: "an addition of 5", access: 20, tamper: nth(20, wire.Atomic, func(_ *wire.Header, b []byte) int { b[0] ^= 4; return 1 }), finds: "addition"},
		{name: "an addition of nothing", access: 20, tamper: nth(20, wire.Atomic, func(_ *wire.Header, b []byte) int { b[0] = 0; return 1 }), finds: "addition"},
		{name: "a request twice", plant: plant{completeTwice: true}, finds: "completes twice"},
		{name: "receives that stay", plant: plant{keepReceives: true}, finds: "posted receives"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := safe
			if c.datagrams {
				p = quietPlan(mem.Datagrams)
			}
			p.Network.Pulls, p.Access = c.pulls, c.access
			if r, err := Run(p); err != nil || r.Delivered < p.Messages {
				t.Fatalf("without the fault: %+v, %v", r, err)
			}
			w, err := newWorld(p)
			if err != nil {
				t.Fatal(err)
			}
			w.net.SetTamper(c.tamper)
			w.plant = c.plant
			if _, err = w.run(); err == nil || !strings.Contains(err.Error(), c.finds) {
				t.Fatalf("the fault is not found as %q: %v", c.finds, err)
			}
		})
	}
}

// invented turns a message into one of the same length that is yet to be sent.
func invented(p *Plan, h *wire.Header, payload []byte) int {
	m := messageOf(h.Match)
	for number := uint32(1_000_000); ; number++ {
		if other, size := p.message(m.from, m.life, m.to, number); size == len(payload) {
			h.Match = other.match()
			fill(payload, h.Match)
			return 1
		}
	}
}

// TestFlowChecks gives the checks at the end of a history what they must refuse.
func TestFlowChecks(t *testing.T) {
	done := record{session: 1, post: 1, state: recordSync | recordEnded | recordMatched}
	for _, c := range []struct {
		name   string
		change func(*record)
		strict bool
		finds  string
	}{
		{"nothing", func(*record) {}, true, ""},
		{"a send that is pending", func(r *record) { r.state &^= recordEnded }, false, "has not completed"},
		{"a message that nobody got", func(r *record) { r.state &^= recordMatched | recordSync }, true, "is lost"},
		{"the same where sessions end", func(r *record) { r.state &^= recordMatched | recordSync }, false, ""},
		{"a synchronous one", func(r *record) { r.state &^= recordMatched }, false, "nobody has received it"},
		{"a failure", func(r *record) { r.code = endpoint.TimedOut }, true, "without reason"},
		{"a send that was taken back", func(r *record) { r.state = recordEnded | recordTaken }, true, ""},
		{"the same, and its message", func(r *record) { r.state = recordEnded | recordTaken | recordArrived }, false, "it has arrived"},
		{"a standard send truncated", func(r *record) { r.code, r.state = endpoint.Truncated, r.state&^recordSync }, false, "truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := done
			c.change(&r)
			err := r.check(c.strict)
			if (err == nil) != (c.finds == "") || err != nil && !strings.Contains(err.Error(), c.finds) {
				t.Fatalf("found %v, want %q", err, c.finds)
			}
		})
	}
}

// TestSeedsRepeat plays seeds twice: the histories of the network are the same to
// the last event, and those of other seeds are not.
func TestSeedsRepeat(t *testing.T) {
	testlength.Alone(t)
	testlength.Long(t)
	hashes := map[uint64]uint64{}
	for seed := range uint64(12) {
		var first Report
		for again := range 2 {
			r, err := Run(PlanOf(seed, 0, 1000))
			if err != nil {
				t.Fatal(err)
			}
			if again == 1 && r != first {
				t.Errorf("seed %d: %+v, and then %+v", seed, first, r)
			}
			first = r
		}
		if other, taken := hashes[first.Network.Hash]; taken {
			t.Errorf("seeds %d and %d have the same history", seed, other)
		}
		hashes[first.Network.Hash] = seed
	}
}
