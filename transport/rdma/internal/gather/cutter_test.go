//go:build linux && cgo

package gather

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gomx/transport/rdma/internal/verbs"
)

// lists cuts total bytes of memory at random. The addresses are offsets into
// memory that has a gap before each segment and piece.
func lists(r *rand.Rand, total int) (far []Segment, near []verbs.Piece, farEnd, nearEnd uint64) {
	share := func(left int) uint32 { return uint32(1 + r.IntN(min(left, 1+total/3))) }
	for left := total; left > 0; {
		n := share(left)
		farEnd += uint64(r.IntN(5))
		far = append(far, Segment{Addr: farEnd, Length: n, Key: r.Uint32()})
		farEnd += uint64(n)
		left -= int(n)
	}
	for left := total; left > 0; {
		n := share(left)
		nearEnd += uint64(r.IntN(5))
		near = append(near, verbs.Piece{Addr: nearEnd, Length: n}, verbs.Piece{Addr: nearEnd})
		nearEnd += uint64(n)
		left -= int(n)
	}
	return far, near, farEnd, nearEnd
}

// play carries a read out over two slices, and says what is wrong with it.
func play(r Read, src, dst []byte, far []Segment) (n int, wrong string) {
	for _, p := range r.Into {
		if p.Length == 0 {
			return n, "an empty piece"
		}
		copy(dst[p.Addr:p.Addr+uint64(p.Length)], src[r.From+uint64(n):])
		n += int(p.Length)
	}
	for _, f := range far {
		if r.Key == f.Key && r.From >= f.Addr && r.From+uint64(n) <= f.Addr+uint64(f.Length) {
			return n, ""
		}
	}
	return n, "it leaves its segment"
}

func FuzzCutter(f *testing.F) {
	f.Add(uint64(1), uint16(1000), uint8(4), uint16(100))
	f.Add(uint64(2), uint16(1), uint8(1), uint16(0))
	f.Add(uint64(3), uint16(50), uint8(1), uint16(1))
	f.Fuzz(func(t *testing.T, seed uint64, size uint16, maxPieces uint8, most uint16) {
		total, limit := int(size)%5000+1, int(maxPieces)%6+1
		r := rand.New(rand.NewPCG(seed, 0))
		far, near, farEnd, nearEnd := lists(r, total)
		src, dst, want := make([]byte, farEnd), make([]byte, nearEnd), make([]byte, nearEnd)
		for i := range src {
			src[i] = byte(r.Uint32()) | 1
		}
		wanted := total - r.IntN(total)
		flat := []byte{}
		for _, p := range far {
			flat = append(flat, src[p.Addr:p.Addr+uint64(p.Length)]...)
		}
		flat = flat[:wanted]
		for _, p := range near {
			flat = flat[copy(want[p.Addr:p.Addr+uint64(p.Length)], flat):]
		}

		var c Cutter
		c.Start(far, near, wanted, limit, uint32(most))
		done := 0
		scratch := make([]verbs.Piece, 0, limit)
		for !c.Done() {
			read := c.Next(scratch)
			n, wrong := play(read, src, dst, far)
			if wrong != "" || n == 0 || len(read.Into) > limit || most != 0 && n > int(most) {
				t.Fatalf("%+v, %d bytes: %s", read, n, wrong)
			}
			done += n
		}
		if done != wanted || !bytes.Equal(dst, want) {
			t.Errorf("%d bytes read, want %d, and the same: %v", done, wanted, bytes.Equal(dst, want))
		}
	})
}

func TestCutterOfNothing(t *testing.T) {
	var c Cutter
	if c.Start(nil, nil, 0, 1, 0); !c.Done() {
		t.Error("there is something to read")
	}
}

// TestFewReads: lists that are cut alike, and one segment into many pieces, take no
// more reads than they must.
func TestFewReads(t *testing.T) {
	far := []Segment{{0, 100, 1}, {200, 100, 2}}
	near := []verbs.Piece{{Addr: 0, Length: 30}, {Addr: 30, Length: 70}, {Addr: 100, Length: 100}}
	var c Cutter
	c.Start(far, near, 200, 2, 0)
	reads := 0
	for ; !c.Done(); reads++ {
		c.Next(nil)
	}
	if reads != 2 {
		t.Errorf("%d reads, want 2", reads)
	}
}
