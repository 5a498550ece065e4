package pool

import (
	"math/rand/v2"
	"testing"
)

// world is a sender that keeps to its window, and a receiver with places.
type world struct {
	testing.TB
	pool   *Pool
	window uint32
	sent   uint32
	known  uint32 // packets that the sender knows to be taken
	taken  uint32
	held   [][]byte // packets that nobody has received, oldest first
	lent   [][]byte
	number byte
}

const size = 16

func newWorld(t testing.TB, window int) *world {
	return &world{TB: t, pool: New(size, window), window: uint32(window)}
}

// step does what a byte says, if that is possible.
func (w *world) step(what byte) {
	pick := int(what >> 2)
	switch what & 3 {
	case 0: // a packet comes
		if w.sent-w.known == w.window {
			break
		}
		b := w.pool.Take()
		if b == nil {
			w.Fatalf("no place, with %d packets ahead of a window of %d", w.sent-w.known, w.window)
		}
		w.sent++
		w.number++
		for i := range b {
			b[i] = w.number
		}
		w.held = append(w.held, b[:pick%(size+1)])
	case 1: // it is received in its place
		if len(w.held) > 0 {
			b := w.held[0]
			w.held = w.held[1:]
			w.pool.Lend(b)
			w.lent = append(w.lent, b)
		}
	case 2: // or with a copy
		if len(w.held) > 0 {
			w.pool.Drop(w.held[0])
			w.held = w.held[1:]
			w.taken++
		}
	case 3: // a place comes back
		if len(w.lent) > 0 {
			i := pick % len(w.lent)
			b := w.lent[i]
			w.lent = append(w.lent[:i], w.lent[i+1:]...)
			if !w.pool.Back(b) {
				w.Fatal("a place that was lent is refused")
			}
			if w.pool.Back(b) || w.pool.Holds(b) {
				w.Fatal("a place comes back twice")
			}
			w.taken++
		}
	}
	if Due(w.taken-w.known, uint32(w.pool.Lent()), w.window) {
		w.known = w.taken
	}
	w.check()
}

func (w *world) check() {
	w.Helper()
	if w.pool.Lent() != len(w.lent) {
		w.Fatalf("%d places are lent, and not %d", w.pool.Lent(), len(w.lent))
	}
	seen := map[*byte]bool{}
	for _, list := range [][][]byte{w.held, w.lent} {
		for _, b := range list {
			at := &b[:1][0]
			if seen[at] {
				w.Fatal("two packets in one place")
			}
			seen[at] = true
			for _, c := range b[:size] {
				if c != *at {
					w.Fatal("two packets in one place")
				}
			}
		}
	}
	if len(w.held) == 0 && len(w.lent) < int(w.window) && w.sent-w.known >= w.window {
		w.Fatalf("the sender waits, with %d of %d places lent", len(w.lent), w.window)
	}
}

func TestRandom(t *testing.T) {
	for window := range 20 {
		w := newWorld(t, window+1)
		rng := rand.New(rand.NewPCG(uint64(window), 1))
		for range 20_000 {
			w.step(byte(rng.Uint32()))
		}
	}
}

func TestStrangersAreNoPlaces(t *testing.T) {
	p := New(size, 2)
	b := p.Take()
	for _, stranger := range [][]byte{nil, {}, make([]byte, size), b[1:], b} {
		if p.Back(stranger) {
			t.Errorf("%d bytes come back that were not lent", len(stranger))
		}
		if p.Holds(stranger) != (len(stranger) == size && &stranger[0] == &b[0]) {
			t.Errorf("%d bytes", len(stranger))
		}
	}
	p.Take()
	if p.Take() != nil {
		t.Error("more places than there are")
	}
	p.Drop(b)
	if c := p.Take(); &c[0] != &b[0] {
		t.Error("a free place is not used again")
	}
}

func TestNoAllocation(t *testing.T) {
	p := New(size, 4)
	once := func() {
		b := p.Take()
		p.Lend(b)
		p.Back(b[:3])
	}
	once()
	if n := testing.AllocsPerRun(100, once); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzCredits does the steps that its input says. A sender that keeps to its window always
// finds a place, and waits only while all are lent.
func FuzzCredits(f *testing.F) {
	f.Add(byte(1), []byte{0, 1, 3, 0, 2, 0})
	f.Add(byte(3), []byte{0, 0, 0, 1, 1, 7, 0, 3})
	f.Fuzz(func(t *testing.T, window byte, steps []byte) {
		w := newWorld(t, int(window)+1)
		for _, s := range steps {
			w.step(s)
		}
	})
}
