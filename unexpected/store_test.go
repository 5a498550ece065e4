package unexpected_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gomx/internal/testlength"
	"gomx/match"
	"gomx/unexpected"
)

func TestOldestFirst(t *testing.T) {
	p := newPair(t, 1<<20)
	for i := range 10 {
		p.add(uint64(i%2), int32(i), i)
	}
	p.find(0, 0)
	p.find(0, 0) // a find takes nothing
	p.receive(1, match.MaskNone)
	p.receive(0, 0)
	p.find(7, match.MaskNone)
	p.find(3, 1) // value outside its mask
	p.check()
	p.drain()
	p.find(0, 0)
}

func TestSetLimit(t *testing.T) {
	p := newPair(t, 10_000)
	for p.add(3, 0, 100) {
	}
	p.setLimit(20_000)
	p.add(3, 0, 100)
	p.setLimit(0)
	p.check()
	p.drain()
	if s := p.store.Stats(); s.Spare != 0 {
		t.Errorf("%d bytes spare under a limit of 0", s.Spare)
	}
}

func TestRemoveUnknown(t *testing.T) {
	p := newPair(t, 1<<20)
	p.add(1, 0, 8)
	id, _ := p.store.First()
	for _, other := range []int32{0, -1, id + 1, 1 << 30} {
		p.remove(other)
	}
	p.check()
	p.remove(id)
	p.remove(id)
	p.check()
}

func TestRemovePeer(t *testing.T) {
	p := newPair(t, 1<<20)
	for i := range 100 {
		p.add(uint64(i), int32(i%3), i)
	}
	p.removePeer(1)
	p.check()
	p.removePeer(1)
	p.store.RemovePeer(7, nil)
	p.removePeer(0)
	p.removePeer(2)
	p.check()
}

func TestMessagesStayPut(t *testing.T) {
	store := unexpected.New(1 << 30)
	first := store.Add(unexpected.Message{}, 8)
	at := store.At(first)
	for range 10_000 {
		store.Add(unexpected.Message{}, 8)
	}
	if store.At(first) != at {
		t.Error("a stored message moved")
	}
}

func TestSpareBuffersFollowUse(t *testing.T) {
	testlength.Alone(t)
	testlength.Long(t)
	const limit = 1 << 20
	p := newPair(t, limit)
	for _, size := range []int{8, 60_000, 300, 0, 100_000, 8} {
		for p.add(1, 0, size) {
		}
		p.drain()
	}
	for p.add(1, 0, 8) {
	}
	p.drain()
	if s := p.store.Stats(); s.Spare > limit/4 || s.Spare < limit/8 {
		t.Errorf("%d bytes spare, want up to a quarter of %d", s.Spare, limit)
	}
}

func TestBufferCutShort(t *testing.T) {
	store := unexpected.New(1 << 20)
	for range 3 {
		id := store.Add(unexpected.Message{}, 500)
		at := store.At(id)
		at.Data = at.Data[100:]
		store.Remove(id)
		id = store.Add(unexpected.Message{}, 512)
		store.At(id).Data[511] = 1
		if err := unexpected.Check(store); err != nil {
			t.Fatal(err)
		}
		store.Remove(id)
	}
}

func TestAgainstTwin(t *testing.T) {
	sizes := []int{0, 1, 8, 64, 65, 4096, 65536, 70000}
	for seed := range uint64(16) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := newPair(t, 1<<(14+seed%8))
		for step := range 2500 {
			value := rng.Uint64N(64)
			mask := match.MaskNone << rng.IntN(int(1+seed))
			switch rng.IntN(8) {
			case 0, 1, 2, 3:
				p.add(value, int32(rng.IntN(5)), sizes[rng.IntN(len(sizes)-int(seed%8))])
			case 4:
				p.receive(value, match.MaskNone)
			case 5:
				p.receive(value&mask, mask)
			case 6:
				p.find(value, mask)
			case 7:
				if step%100 == 0 {
					p.removePeer(int32(rng.IntN(5)))
				}
			}
		}
		p.check()
		p.drain()
	}
}

func TestStoreDoesNotAllocate(t *testing.T) {
	for _, depth := range []int{0, 5, 1000} {
		store := unexpected.New(8 << 20)
		for i := range depth {
			store.Add(unexpected.Message{Match: uint64(i) << 32}, 8)
		}
		round := func() {
			for _, size := range []int{0, 8, 100, 4096, 65536} {
				for i := range uint64(16) {
					store.Add(unexpected.Message{Match: 1<<60 | i, Peer: 1}, size)
				}
				for i := range uint64(8) {
					id, _ := store.Find(1<<60|(15-i), match.MaskNone)
					store.Remove(id)
					id, _ = store.Find(1<<60, anyTag)
					store.Remove(id)
				}
			}
			store.RemovePeer(1, nil)
		}
		round()
		if got := testing.AllocsPerRun(50, round); got != 0 {
			t.Errorf("depth %d: %v allocations a round", depth, got)
		}
	}
}

func ExampleStore() {
	store := unexpected.New(1 << 20)
	id := store.Add(unexpected.Message{Match: 0x0703, Peer: 4, Length: 5}, 5)
	copy(store.At(id).Data, "hello")

	// A receive for tag 7 from anybody is posted.
	if id, ok := store.Find(0x0700, 0xff00); ok {
		m := store.At(id)
		fmt.Printf("%s from peer %d\n", m.Data, m.Peer)
		store.Remove(id)
	}
	// Output: hello from peer 4
}
