package endpointtest

import (
	"fmt"

	"gomx/transport/wire"
)

// Fill writes message number seed's bytes into v.
func Fill(v *wire.Vec, seed int) {
	at := 0
	for i := range v.Segments() {
		seg := v.Segment(i)
		for j := range seg {
			seg[j] = byteOf(seed, at)
			at++
		}
	}
}

// byteOf is byte i of message seed. Byte 0 is the seed itself.
func byteOf(seed, i int) byte { return byte(seed + i*31 + i>>8*7) }

// Buffer is memory of a receive, cut into segments, with guards around each.
type Buffer struct {
	Vec    wire.Vec
	mem    [][]byte
	margin int // bytes of guard
}

const (
	guard     = 8
	guardByte = 0xee
)

// NewBuffer makes a buffer with segments of these sizes.
func NewBuffer(sizes ...int) *Buffer {
	b := &Buffer{margin: guard}
	for i, n := range sizes {
		m := make([]byte, guard+n+guard)
		for j := range m {
			m[j] = guardByte
		}
		b.mem = append(b.mem, m)
		seg := m[guard : guard+n : guard+n]
		if i == 0 {
			b.Vec.First = seg
		} else {
			b.Vec.Rest = append(b.Vec.Rest, seg)
		}
	}
	return b
}

// around is a buffer of memory that is there, without guards.
func around(mem []byte) *Buffer {
	b := new(Buffer)
	b.Vec.First, b.mem = mem, [][]byte{mem}
	return b
}

// Seed returns the number of the message that begins the buffer.
func (b *Buffer) Seed() int {
	for i := range b.Vec.Segments() {
		if s := b.Vec.Segment(i); len(s) > 0 {
			return int(s[0])
		}
	}
	return 0
}

// Check reports whether the buffer holds the first n bytes of message seed, and
// nothing else anywhere.
func (b *Buffer) Check(seed, n int) error {
	at := 0
	for i, m := range b.mem {
		for j, c := range m {
			want := byte(guardByte)
			if j >= b.margin && j < len(m)-b.margin {
				if at < n {
					want = byteOf(seed, at)
				}
				at++
			}
			if c != want {
				return fmt.Errorf("segment %d byte %d is %#x, want %#x", i, j-b.margin, c, want)
			}
		}
	}
	return nil
}

// CheckAround reports whether what lies around the segments is as it was.
func (b *Buffer) CheckAround() error {
	for i, m := range b.mem {
		for j := range b.margin {
			if m[j] != guardByte || m[len(m)-1-j] != guardByte {
				return fmt.Errorf("memory around segment %d was written", i)
			}
		}
	}
	return nil
}
