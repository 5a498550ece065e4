package ring_test

import (
	"encoding/binary"
	"testing"

	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

// FuzzTwin drives a ring and a queue with the same operations.
func FuzzTwin(f *testing.F) {
	f.Add([]byte{0, 1, 8, 0, 1, 0, 0, 2})
	f.Add([]byte{0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 1, 1, 2, 0, 0, 255, 255})
	f.Fuzz(func(t *testing.T, ops []byte) {
		x := newTwin(t)
		for len(ops) > 0 {
			op := ops[0]
			ops = ops[1:]
			switch {
			case op&3 == 0 && len(ops) >= 3:
				length := min(int(binary.LittleEndian.Uint16(ops))+int(ops[2]&1), ring.MaxFrame)
				kind, flags := kinds[int(ops[2]>>1)%len(kinds)], wire.Flags(op>>4)
				for range 1 + int(op>>2&3)*20 {
					x.send(kind, flags, length, int(ops[2]&3))
				}
				ops = ops[3:]
			case op&3 == 1:
				for range 1 + op>>2 {
					x.take()
				}
			case op&3 == 2:
				x.publish()
			}
		}
		for x.take() {
		}
		x.publish()
		if !x.w.Idle() || !x.intact() {
			t.Fatalf("at the end: idle %v, surroundings intact %v", x.w.Idle(), x.intact())
		}
	})
}

// FuzzHostile scribbles over the ring while both ends use it. Nothing may panic,
// no byte around the ring may change, and no payload may lie outside it.
func FuzzHostile(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4})
	f.Add([]byte{2, 64, 0, 1, 15, 1, 0, 1, 0, 0, 0, 1, 1})
	f.Add([]byte{1, 1, 1, 2, 88, 0, 255, 255, 255, 255, 0, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		mem, intact := guarded(t)
		w, r := ends(t, mem)
		scratch := make([]byte, ring.MaxFrame+8)
		var n uint64
		for len(ops) > 0 {
			op := ops[0]
			ops = ops[1:]
			switch op & 3 {
			case 0:
				length := int(op>>2) * 1041
				fr := frame{number: n, kind: kinds[n%uint64(len(kinds))], flags: wire.Flags(op >> 4), length: min(length, ring.MaxFrame)}
				h, v := fr.header(), fr.vec(scratch)
				w.Send(&h, &v, 0)
				n++
			case 1:
				for range 1 + op>>2 {
					readHostile(t, mem, r)
				}
			default:
				if len(ops) < 6 {
					return
				}
				at := uint64(binary.LittleEndian.Uint16(ops)) * 3 // over line 0, all slots, some data
				if op&4 != 0 {
					at = uint64(ops[0]) % 16 // the position and the flag
				}
				copy(mem[min(at, ring.Size-8):], ops[2:min(len(ops), 2+int(op>>3)%9)])
				ops = ops[2:]
			}
			w.Idle()
			if !intact() {
				t.Fatal("bytes around the ring have changed")
			}
		}
	})
}

// readHostile reads a frame of a ring that may hold nonsense.
func readHostile(t testing.TB, mem []byte, r *ring.Reader) {
	t.Helper()
	h, payload, ok := r.Next()
	if !ok && (h != nil || payload != nil) {
		t.Fatal("a frame together with a refusal")
	}
	if h == nil {
		return
	}
	if !h.Kind.Valid() || int(h.Length) != len(payload) || len(payload) > ring.MaxFrame {
		t.Fatalf("frame %+v with %d bytes let through", *h, len(payload))
	}
	copied := h.Kind != wire.Eager && h.Kind != wire.PullData
	if copied && within(mem, payload) && len(payload) > 0 {
		t.Fatalf("%v: the payload, which is parsed, still lies in shared memory", h.Kind)
	}
	if !copied && !within(mem, payload) {
		t.Fatal("payload outside the ring")
	}
	sum := byte(0)
	for _, b := range payload {
		sum += b
	}
	_ = sum
	if r.Take() {
		r.Publish()
	}
}
