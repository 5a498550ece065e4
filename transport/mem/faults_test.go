package mem_test

import (
	"slices"
	"testing"

	"gomx/transport/mem"
)

// trace sends 200 frames in bursts over a lossy network, then reads on until no
// delay holds a frame back, and returns what arrived.
func trace(t *testing.T, f mem.Faults) []uint32 {
	_, b, toB, _, _ := pair(t, mem.NewNetwork(mem.Options{Faults: f}))
	var got []uint32
	for burst := range 20 {
		numbered(toB, 10*burst, 10)
		got = append(got, collect(b, 1)...)
	}
	got = append(got, collect(b, f.MaxDelay+10)...)
	if !b.Quiet() {
		t.Error("frames are left")
	}
	return got
}

func TestFaultsFollowTheSeed(t *testing.T) {
	f := mem.Faults{Seed: 7, Drop: 0.1, Duplicate: 0.1, Reorder: 0.2, MaxDelay: 3, CutEvery: 50, CutFor: 5}
	first := trace(t, f)
	if again := trace(t, f); !slices.Equal(first, again) {
		t.Errorf("one seed, two histories:\n%v\n%v", first, again)
	}
	f.Seed = 8
	if other := trace(t, f); slices.Equal(first, other) {
		t.Error("two seeds, one history")
	}
}

func TestEachFault(t *testing.T) {
	all := make([]uint32, 200)
	for i := range all {
		all[i] = uint32(i)
	}
	distinct := func(got []uint32) int {
		return len(slices.Compact(slices.Sorted(slices.Values(got))))
	}
	for _, c := range []struct {
		name   string
		faults mem.Faults
		holds  func(got []uint32) bool
	}{
		{"seed only", mem.Faults{Seed: 1}, func(got []uint32) bool { return slices.Equal(got, all) }},
		{"drop all", mem.Faults{Drop: 1}, func(got []uint32) bool { return len(got) == 0 }},
		{"drop some", mem.Faults{Drop: 0.5}, func(got []uint32) bool {
			return len(got) > 50 && len(got) < 150 && slices.IsSorted(got)
		}},
		{"duplicate all", mem.Faults{Duplicate: 1}, func(got []uint32) bool {
			return len(got) == 400 && distinct(got) == 200 && slices.IsSorted(got)
		}},
		{"reorder", mem.Faults{Reorder: 0.5}, func(got []uint32) bool {
			return len(got) == 200 && distinct(got) == 200 && !slices.IsSorted(got)
		}},
		{"delay", mem.Faults{MaxDelay: 4}, func(got []uint32) bool {
			return len(got) == 200 && distinct(got) == 200 && !slices.IsSorted(got)
		}},
		{"cut", mem.Faults{CutEvery: 8, CutFor: 2}, func(got []uint32) bool {
			return len(got) == 160 && !slices.ContainsFunc(got, func(n uint32) bool { return n%10 >= 8 })
		}},
	} {
		if got := trace(t, c.faults); !c.holds(got) {
			t.Errorf("%s: %d frames came: %v", c.name, len(got), got)
		}
	}
}

func TestLossyCutLoses(t *testing.T) {
	n := mem.NewNetwork(mem.Options{Faults: mem.Faults{Seed: 1}})
	_, b, toB, _, _ := pair(t, n)
	numbered(toB, 0, 2)
	n.SetCut(address(0), address(1), true)
	numbered(toB, 2, 2)
	n.SetCut(address(0), address(1), false)
	numbered(toB, 4, 2)
	if got := collect(b, 3); !slices.Equal(got, []uint32{0, 1, 4, 5}) {
		t.Errorf("came %v, want 0 1 4 5", got)
	}
}

func TestLossyCloseIsSilent(t *testing.T) {
	a, b, toB, toA, bEvents := pair(t, mem.NewNetwork(mem.Options{Faults: mem.Faults{Seed: 1}}))
	numbered(toB, 0, 2)
	a.Close()
	if got := collect(b, 3); len(got) != 2 || !b.Quiet() || len(bEvents.downs) != 0 {
		t.Errorf("frames %v, quiet %v, downs %d", got, b.Quiet(), len(bEvents.downs))
	}
	numbered(toA, 0, 1000)
}
