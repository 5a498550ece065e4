package ring_test

import (
	"math/rand/v2"
	"testing"

	"gomx/internal/testlength"
	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

// twin runs a ring beside a plain queue.
type twin struct {
	t       testing.TB
	w       *ring.Writer
	r       *ring.Reader
	queue   []frame
	next    uint64
	scratch [2][]byte
	intact  func() bool
	refused int
	told    bool // the writer has been refused since the last wake-up
}

func newTwin(t testing.TB) *twin {
	mem, intact := guarded(t)
	w, r := ends(t, mem)
	return &twin{t: t, w: w, r: r, intact: intact, scratch: [2][]byte{make([]byte, ring.MaxFrame+16), make([]byte, ring.MaxFrame+16)}}
}

// send reports whether the frame found room. A ring with nothing unread takes
// any frame.
func (x *twin) send(kind wire.Kind, flags wire.Flags, length, off int) bool {
	x.t.Helper()
	f := frame{number: x.next, kind: kind, flags: flags, length: length, off: off}
	h, v := f.header(), f.vec(x.scratch[0])
	if x.next%2 == 0 {
		x.w.Expect() // which changes nothing
	}
	if !x.w.Send(&h, &v, off) {
		if len(x.queue) == 0 && !x.r.Behind() {
			x.t.Fatalf("an empty ring refused frame %d of %d bytes", f.number, length)
		}
		x.refused++
		x.told = true
		return false
	}
	x.next++
	x.queue = append(x.queue, f)
	if len(x.queue) > ring.Slots {
		x.t.Fatalf("%d frames in %d slots", len(x.queue), ring.Slots)
	}
	return true
}

// take reads one frame, and reports whether there was one.
func (x *twin) take() bool {
	x.t.Helper()
	ready := x.r.Ready()
	h, payload, ok := x.r.Next()
	if !ok || ready != (h != nil) || (h != nil) != (len(x.queue) > 0) {
		x.t.Fatalf("read: frame %v, ready %v, ok %v, but %d are in the ring", h != nil, ready, ok, len(x.queue))
	}
	if h == nil {
		return false
	}
	again, _, ok := x.r.Next() // reading takes nothing
	if !ok || again.Match != x.queue[0].header().Match {
		x.t.Fatal("a second read shows another frame")
	}
	if f := x.queue[0]; x.r.Compact() && (f.kind != wire.Eager || f.flags != 0 || f.length > ring.MaxCompact) {
		x.t.Fatalf("%+v is no compact frame", f)
	}
	x.queue[0].check(x.t, h, payload, x.scratch[1])
	x.queue = x.queue[1:]
	if x.r.Take() {
		x.publish()
	}
	return true
}

// publish checks that the wake-up is asked for exactly if the writer waits.
func (x *twin) publish() {
	x.t.Helper()
	if got := x.r.Publish(); got != x.told {
		x.t.Fatalf("publish says the writer waits: %v, want %v", got, x.told)
	}
	x.told = false
	if x.r.Behind() {
		x.t.Fatal("behind just after publishing")
	}
}

var kinds = []wire.Kind{wire.Eager, wire.Rendezvous, wire.Notify, wire.PullRequest, wire.PullData, wire.Ack, wire.Connect}

func TestTwin(t *testing.T) {
	x := newTwin(t)
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{0, 1, 7, 8, 9, 15, 16, 17, 24, 39, 40, 41, 63, 64, 65, 1000, 4096, 8192, 30000, ring.MaxFrame - 1, ring.MaxFrame}
	rounds := 4000
	if testing.Short() {
		rounds = 1000
	}
	for range rounds {
		for range rng.IntN(40) {
			kind, flags := kinds[rng.IntN(len(kinds))], wire.Flags(rng.IntN(16))
			if !x.send(kind, flags, sizes[min(rng.IntN(len(sizes)), rng.IntN(len(sizes)))], rng.IntN(2)*rng.IntN(9)) {
				break
			}
		}
		for range rng.IntN(40) {
			if !x.take() {
				break
			}
		}
		if rng.IntN(3) == 0 && x.r.Behind() {
			x.publish()
		}
	}
	for x.take() {
	}
	if !x.intact() {
		t.Fatal("bytes around the ring have changed")
	}
	if x.refused == 0 || x.next < 5*ring.Slots {
		t.Fatalf("%d frames, %d refused: the test has not been where it should", x.next, x.refused)
	}
	x.publish()
	if !x.w.Idle() {
		t.Error("everything has been read, and the writer does not see it")
	}
}

// However the payload area wraps, one frame of the largest size finds room as
// soon as the reader has caught up, and pieces in use are never written over.
func TestAreaWraps(t *testing.T) {
	testlength.Alone(t)
	for length := 64; length <= ring.MaxFrame; length = length*5/4 + 3 {
		x := newTwin(t)
		for range 600 {
			if !x.send(wire.Eager, 0, length, 0) {
				x.take()
				x.take()
				x.take()
				if x.r.Behind() {
					x.publish()
				}
			}
		}
		for x.take() {
		}
		if !x.intact() {
			t.Fatal("bytes around the ring have changed")
		}
	}
}

// A writer that is held up comes to use the whole area.
func TestAreaGrows(t *testing.T) {
	x := newTwin(t)
	most := 0
	for range 100 {
		for x.send(wire.Eager, 0, ring.MaxFrame, 0) {
		}
		most = max(most, len(x.queue))
		for range 2 {
			x.take()
		}
		x.publish()
	}
	if want := ring.DataSize / ring.MaxFrame / 2; most < want {
		t.Errorf("at most %d of the largest frames were in the ring, want %d or more", most, want)
	}
}

// The stamp of a slot wraps after 65536 generations; the ring does not notice.
func TestStampWraps(t *testing.T) {
	mem, _ := guarded(t)
	w, r := ends(t, mem)
	h := wire.Header{Kind: wire.Ack}
	const first, generations = 1<<16 - 5, 10
	ring.Forward(w, r, first)
	for i := uint64(first * ring.Slots); i < (first+generations)*ring.Slots; i++ {
		h.Match = i
		if !w.Send(&h, nil, 0) {
			t.Fatal("no room at", i)
		}
		got, _, ok := r.Next()
		if !ok || got == nil || got.Match != i {
			t.Fatalf("frame %d: %v %v", i, got, ok)
		}
		if r.Take() {
			r.Publish()
		}
		if r.Ready() {
			t.Fatalf("frame %d: an old frame looks new", i)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	mem, _ := guarded(t)
	w, r := ends(t, mem)
	buf := make([]byte, ring.MaxFrame)
	for _, length := range []int{0, 8, 40, 41, 4096, ring.MaxFrame} {
		for _, h := range []wire.Header{{Kind: wire.Eager}, {Kind: wire.PullData, Flags: wire.HasID | wire.HasRange}, {Kind: wire.Rendezvous, Flags: wire.HasID}} {
			h.Length = uint32(length)
			v := wire.Vec{First: buf}
			n := testing.AllocsPerRun(100, func() {
				if !w.Send(&h, &v, 0) {
					t.Fatal("no room")
				}
				if got, _, ok := r.Next(); got == nil || !ok {
					t.Fatal("no frame")
				}
				r.Take()
				r.Publish()
			})
			if n != 0 {
				t.Errorf("%v of %d bytes: %v allocations", h.Kind, length, n)
			}
		}
	}
}
