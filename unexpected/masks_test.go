package unexpected_test

import (
	"math/rand/v2"
	"testing"

	"gomx/match"
	"gomx/unexpected"
)

const anyTag uint64 = 0xffffffff00000000

// deepPair holds n messages of which none but the last ones are wanted.
func deepPair(t *testing.T, n int) *pair {
	p := newPair(t, 1<<30)
	for i := range n {
		p.add(uint64(i)<<32|uint64(i), 0, 0)
	}
	return p
}

func TestMaskGetsIndexWhenWalksAreLong(t *testing.T) {
	p := deepPair(t, 500)
	p.find(0, 0)
	p.find(10<<32, anyTag)
	if s := p.store.Stats(); s.Indexes != 0 {
		t.Fatalf("short walks made %d indexes", s.Indexes)
	}
	p.receive(499<<32, anyTag)
	if s := p.store.Stats(); s.Indexes != 1 {
		t.Fatalf("a walk over everything made %d indexes", s.Indexes)
	}
	before := p.store.Stats().Walked
	for i := 498; i >= 100; i-- {
		p.receive(uint64(i)<<32, anyTag)
	}
	p.find(1<<60, anyTag)
	if got := p.store.Stats().Walked - before; got != 399 {
		t.Errorf("looked at %d messages to find 399", got)
	}
	p.check()
	p.drain()
}

func TestRepeatedMiddlingWalksGetIndex(t *testing.T) {
	p := deepPair(t, 500)
	for range 9 {
		p.find(60<<32, anyTag)
	}
	if s := p.store.Stats(); s.Indexes != 1 {
		t.Errorf("%d indexes after nine walks of 61 messages", s.Indexes)
	}
	p.drain()
}

func TestIndexesAreBounded(t *testing.T) {
	p := deepPair(t, 200)
	for i := range 1000 {
		mask := match.MaskNone << (1 + i%20)
		p.find((1<<60)&mask, mask)
		if s := p.store.Stats(); s.Indexes > 8 {
			t.Fatalf("%d indexes", s.Indexes)
		}
	}
	p.check()
	p.drain()
}

func TestNewMaskTakesStalePlace(t *testing.T) {
	p := deepPair(t, 200)
	for i := range 8 {
		mask := match.MaskNone << (1 + i)
		p.find((1<<60)&mask, mask)
	}
	for range 40 {
		p.find(1<<60, match.MaskNone-1)
	}
	p.find(1<<60, anyTag)
	before := p.store.Stats().Walked
	p.find(1<<60, anyTag)
	if got := p.store.Stats().Walked - before; got != 0 {
		t.Errorf("second search under a new mask walked past %d messages", got)
	}
	p.check()
}

func TestUnusedIndexGoes(t *testing.T) {
	p := deepPair(t, 100)
	p.find(1<<60, anyTag)
	for range 10_000 {
		p.add(7, 0, 8)
		p.receive(7, match.MaskNone)
	}
	if s := p.store.Stats(); s.Indexes != 0 {
		t.Errorf("%d indexes, long after the last search", s.Indexes)
	}
	p.find(99<<32, anyTag)
	p.check()
	p.drain()
}

// Indexes must not multiply the memory that the limit is there to bound.
func TestIndexesHeedTheLimit(t *testing.T) {
	const limit = 4 << 20
	store := unexpected.New(limit)
	fill := func() {
		for store.Stats().Bytes+footprint(0) <= limit {
			store.Add(unexpected.Message{Match: 1}, 0)
		}
	}
	search := func() {
		for i := range 6 {
			mask := match.MaskNone << (1 + i)
			store.Find(1<<60, mask)
		}
	}
	for range 1000 {
		store.Add(unexpected.Message{Match: 1}, 0)
	}
	search()
	if s := store.Stats(); s.Indexes != 6 {
		t.Fatalf("%d indexes over 1000 messages", s.Indexes)
	}
	fill()
	search()
	if s := store.Stats(); s.Indexes > 2 {
		t.Errorf("%d indexes over a full store", s.Indexes)
	}
	store.SetLimit(limit / 8)
	if s := store.Stats(); s.Indexes > 2 {
		t.Errorf("%d indexes under a limit far below the content", s.Indexes)
	}
	if err := unexpected.Check(store); err != nil {
		t.Error(err)
	}
}

// Two masks are searched for without a walk however many messages there are, and however small the limit is.
func TestTwoMasksAtAnyDepth(t *testing.T) {
	store := unexpected.New(1)
	const n = 20_000
	for i := range uint64(n) {
		store.Add(unexpected.Message{Match: i}, 0)
	}
	for i := uint64(n); i > 0; {
		for _, mask := range []uint64{match.MaskNone >> 1, match.MaskNone >> 2, match.MaskNone} {
			if i--; i == 0 {
				break
			}
			id, ok := store.Find(i, mask)
			if !ok {
				t.Fatalf("message %d is not found", i)
			}
			store.Remove(id)
		}
	}
	if s := store.Stats(); s.Walked > 20*n {
		t.Errorf("%d messages were looked at in %d searches", s.Walked, s.Finds)
	}
}

// Sixteen masks in turn are searched for without long walks, however many messages there are, and however small the limit is.
func TestManyMasksAtAnyDepth(t *testing.T) {
	store := unexpected.New(1)
	const n, masks = 20_000, 16
	for i := range uint64(n) {
		store.Add(unexpected.Message{Match: i}, 0)
	}
	for i := range uint64(n) {
		value := i * 7919 % n // oldest and newest alike
		id, ok := store.Find(value, match.MaskNone>>(1+i%masks))
		if !ok || store.At(id).Match != value {
			t.Fatalf("message %d is not found", value)
		}
		store.Remove(id)
		store.Add(unexpected.Message{Match: n + i}, 0)
	}
	if s := store.Stats(); s.Walked > 100*n {
		t.Errorf("%d messages were looked at in %d searches", s.Walked, s.Finds)
	}
}

// More masks than have an index find what the twin finds, while messages come, go and are claimed.
func TestManyMasksFindTheOldest(t *testing.T) {
	p := newPair(t, 1<<30)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		value := random.Uint64N(64)<<20 | random.Uint64N(8)
		mask := match.MaskNone << random.Uint64N(24)
		switch random.IntN(5) {
		case 0, 1:
			p.add(value, 0, 0)
		case 2:
			p.receive(value&mask, mask)
		case 3:
			p.find(value&mask, mask)
		default:
			if random.IntN(4) == 0 {
				p.claim(value&mask, mask)
			}
			p.redeem(random.IntN(8))
		}
		if i%1000 == 0 {
			p.check()
		}
	}
	if s := p.store.Stats(); s.Snapshots == 0 {
		t.Error("no mask had a snapshot")
	}
	p.check()
	p.drain()
	p.find(1, 1)
	if s := p.store.Stats(); s.Snapshots != 0 {
		t.Errorf("an empty store has %d snapshots", s.Snapshots)
	}
}

func TestUnusedSnapshotsGo(t *testing.T) {
	p := deepPair(t, 100)
	for i := range 100 {
		mask := match.MaskNone << (1 + i%12)
		p.find((1<<60)&mask, mask)
	}
	if s := p.store.Stats(); s.Snapshots == 0 {
		t.Fatal("no mask has a snapshot")
	}
	for range 10_000 {
		p.add(7, 0, 8)
		p.receive(7, match.MaskNone)
	}
	if s := p.store.Stats(); s.Snapshots != 0 {
		t.Errorf("%d snapshots, long after the last search", s.Snapshots)
	}
	p.check()
	p.drain()
}
