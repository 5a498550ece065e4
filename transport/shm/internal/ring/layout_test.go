package ring_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

// Two processes may be built from different versions of the source: what lies
// where is part of the protocol.
func TestLayoutSizes(t *testing.T) {
	for name, c := range map[string]struct{ got, want int }{
		"line": {ring.Line, 64}, "slots": {ring.Slots, 1024}, "largest frame": {ring.MaxFrame, 65536},
		"payload area": {ring.DataSize, 1 << 20}, "ring": {ring.Size, 64 + 1024*32 + 1<<20},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
}

func TestGoldenBytes(t *testing.T) {
	mem, _ := guarded(t)
	w, r := ends(t, mem)
	le := binary.LittleEndian

	h := wire.Header{Kind: wire.Eager, Length: 5, Match: 0x1122334455667788, Seq: 0x01020304, Session: 0x0a0b0c0d}
	for range 2 {
		if !w.Send(&h, &wire.Vec{First: []byte("hello")}, 0) {
			t.Fatal("no room")
		}
		h.Seq++
	}
	first := append([]byte{1, 0, 1, 0, 5, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
		4, 3, 2, 1, 0x0d, 0x0c, 0x0b, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}, "hello"...)
	if got := mem[64 : 64+len(first)]; !bytes.Equal(got, first) {
		t.Errorf("first frame of a session\n got % x\nwant % x", got, first)
	}
	second := append([]byte{1, 0x80, 1, 0, 5, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}, "hello"...)
	if got := mem[64+64 : 64+64+len(second)]; !bytes.Equal(got, second) {
		t.Errorf("the frame after it\n got % x\nwant % x", got, second)
	}

	big := bytes.Repeat([]byte{0x5a}, 100)
	h = wire.Header{Kind: wire.PullData, Flags: wire.HasID | wire.HasRange, Length: 100, ID: 0xfeed, Total: 3, Offset: 4}
	for range 2 {
		if !w.Send(&h, &wire.Vec{First: big}, 0) {
			t.Fatal("no room")
		}
	}
	if fill := mem[64+96:]; le.Uint64(fill) != 1<<16 {
		t.Errorf("filler: % x", fill[:8])
	}
	last := mem[64+3*64:]
	if last[0] != 5 || last[1] != 3 || le.Uint16(last[2:]) != 1 || le.Uint32(last[4:]) != 100 || le.Uint64(last[32:]) != 1<<16 {
		t.Errorf("large frame: % x", last[:64])
	}
	if le.Uint64(last[40:]) != 0xfeed || le.Uint32(last[48:]) != 3 || le.Uint32(last[52:]) != 4 {
		t.Errorf("extensions: % x", last[40:64])
	}
	at := le.Uint64(last[24:])
	if at != 128 {
		t.Errorf("second payload begins at %d of the area, want 128", at)
	}
	if got := mem[64+1024*32+int(at):][:100]; !bytes.Equal(got, big) {
		t.Error("payload is not where its slot says")
	}

	for range 4 {
		if head, _, ok := r.Next(); head == nil || !ok {
			t.Fatal("frame not read")
		}
		r.Take()
	}
	r.Publish()
	if le.Uint64(mem) != 8 {
		t.Errorf("position %d, want 8", le.Uint64(mem))
	}
	// Full: the writer asks to be told.
	for w.Send(&wire.Header{Kind: wire.Ack}, nil, 0) {
	}
	if le.Uint32(mem[8:]) != 1 {
		t.Error("writer found the ring full and did not say so at byte 8")
	}
	// The second generation has stamp 2.
	if le.Uint16(mem[64+2:]) != 2 {
		t.Errorf("stamp of the second generation: %d", le.Uint16(mem[64+2:]))
	}
}

func TestRefusesBadMemory(t *testing.T) {
	mem, _ := guarded(t)
	for name, m := range map[string][]byte{"short": mem[:ring.Size-1], "empty": nil, "askew": mem[8:][:ring.Size-64]} {
		if _, err := ring.NewWriter(m); err == nil {
			t.Errorf("%s: writer made", name)
		}
		if _, err := ring.NewReader(m); err == nil {
			t.Errorf("%s: reader made", name)
		}
	}
	large := make([]byte, ring.Size+2*ring.Line)
	for off := range ring.Line {
		if m := large[off:]; !within(mem, m) && uintptrOf(m)%ring.Line != 0 {
			if _, err := ring.NewReader(m); err == nil {
				t.Fatalf("memory at offset %d of a line taken", uintptrOf(m)%ring.Line)
			}
		}
	}
}
