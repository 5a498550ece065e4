package match_test

import (
	"math/rand/v2"
	"testing"

	"gomx/match"
)

func TestRule(t *testing.T) {
	tests := []struct {
		incoming, value, mask uint64
		valid, matches        bool
	}{
		{0x1111111122223333, 0x1111111100003333, 0xffffffff0000ffff, true, true},
		{0x1111111122223334, 0x1111111100003333, 0xffffffff0000ffff, true, false},
		{7, 7, match.MaskNone, true, true},
		{7, 6, match.MaskNone, true, false},
		{7, 0, 0, true, true},
		{7, 7, 3, false, false},
	}
	for _, tt := range tests {
		if got := match.Valid(tt.value, tt.mask); got != tt.valid {
			t.Errorf("Valid(%#x, %#x) = %v", tt.value, tt.mask, got)
		}
		if got := match.Matches(tt.incoming, tt.value, tt.mask); got != tt.matches {
			t.Errorf("Matches(%#x, %#x, %#x) = %v", tt.incoming, tt.value, tt.mask, got)
		}
	}
}

func TestOldestWinsAcrossMasks(t *testing.T) {
	for _, padding := range []int{0, 100} {
		var p pair
		for i := range padding {
			p.post(1<<40+uint64(i), match.MaskNone)
		}
		any1 := p.post(0, 0)
		exact := p.post(5, match.MaskNone)
		low := p.post(5, 0xff)
		any2 := p.post(0, 0)
		for _, want := range []int32{any1, exact, low, any2} {
			if got, ok := p.table.Arrive(5); !ok || got != want {
				t.Fatalf("padding %d: Arrive = %d, %v; want %d", padding, got, ok, want)
			}
		}
		if id, ok := p.table.Arrive(5); ok {
			t.Fatalf("padding %d: Arrive on spent table = %d", padding, id)
		}
	}
}

func TestCancelAnywhere(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8, 9, 40} {
		for gone := range n {
			var p pair
			for range n {
				p.post(9, match.MaskNone)
			}
			p.cancel(t, int32(gone))
			p.cancel(t, int32(gone))
			p.cancel(t, int32(n))
			p.cancel(t, -1)
			p.check(t)
			p.drain(t)
		}
	}
}

func TestAgainstTwin(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var p pair
		masks := make([]uint64, 1+seed%12)
		for i := range masks {
			masks[i] = match.MaskNone << (i % 5) &^ (uint64(i/5) << 4)
		}
		for range 3000 {
			value := rng.Uint64N(1 + seed*3)
			switch rng.IntN(5) {
			case 0, 1:
				p.post(value, masks[rng.IntN(len(masks))])
			case 2, 3:
				p.arrive(t, value)
			case 4:
				p.cancel(t, int32(rng.IntN(int(p.next)+1)))
			}
		}
		p.check(t)
		p.drain(t)
	}
}

func TestGroupsAreRecycled(t *testing.T) {
	var p pair
	for i := range 20 {
		p.post(uint64(i), match.MaskNone)
	}
	for i := range 5000 {
		mask := uint64(i+1) << 20
		p.post(mask, mask)
		p.post(mask, mask|1<<60)
		p.arrive(t, mask)
		p.arrive(t, mask)
	}
	p.check(t)
	if got := match.Groups(&p.table); got > 3 {
		t.Errorf("%d groups for three masks in use at once", got)
	}
	p.drain(t)
}

// Receives that don't match cost a look at the index, not a walk: after the few
// arrivals in which the last of them leave the queue, one look there and one at the
// receive that matches.
func TestProbesFlatInDepth(t *testing.T) {
	var table match.Table
	for i := range int32(16384) {
		table.Post(i, 1<<32|uint64(i), match.MaskNone)
	}
	round := func() {
		table.Post(16384, 7, match.MaskNone)
		if id, ok := table.Arrive(7); !ok || id != 16384 {
			t.Fatalf("Arrive = %d, %v", id, ok)
		}
	}
	for range 100 {
		round()
	}
	before := table.Stats().Probes
	for range 100 {
		round()
	}
	s := table.Stats()
	if got := s.Probes - before; got != 200 {
		t.Errorf("%d probes for 100 arrivals", got)
	}
	if s.Arrivals != 200 || s.Peak != 16385 || s.Depth != 16384 {
		t.Errorf("Stats() = %+v", s)
	}
}

func TestTableDoesNotAllocate(t *testing.T) {
	for _, depth := range []int32{0, 4, 8, 1000} {
		var table match.Table
		round := func() {
			for i := range int32(8) {
				table.Post(depth+i, uint64(i), match.MaskNone)
				table.Post(depth+8+i, uint64(i)<<8, 0xff00)
			}
			for i := range uint64(8) {
				table.Arrive(i)
				table.Arrive(i << 8)
			}
			for i := range int32(16) {
				table.Cancel(depth + i)
			}
		}
		for i := range depth {
			table.Post(i, 1<<40|uint64(i), match.MaskNone)
		}
		round()
		if got := testing.AllocsPerRun(100, round); got != 0 {
			t.Errorf("depth %d: %v allocations a round", depth, got)
		}
		if table.Len() != int(depth) {
			t.Errorf("depth %d: %d left", depth, table.Len())
		}
	}
}

// TestManyKeepsItsPlace has a receive for many messages stand between others, in the queue and in the groups.
func TestManyKeepsItsPlace(t *testing.T) {
	for _, padding := range []int{0, 100} {
		var p pair
		for i := range padding {
			p.post(1<<40+uint64(i), match.MaskNone)
		}
		first := p.post(5, match.MaskNone)
		many := p.postMany(0, 0)
		last := p.post(5, match.MaskNone)
		for i, want := range []int32{first, many, many, many} {
			if got, ok := p.table.Arrive(5); !ok || got != want {
				t.Fatalf("padding %d: arrival %d finds %d, %v; want %d", padding, i, got, ok, want)
			}
		}
		if !p.table.Cancel(many) {
			t.Fatal("it is not posted")
		}
		if got, ok := p.table.Arrive(5); !ok || got != last {
			t.Fatalf("padding %d: after it %d, %v; want %d", padding, got, ok, last)
		}
	}
}
