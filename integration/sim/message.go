package sim

import (
	"encoding/binary"
	"fmt"

	"gomx/transport/wire"
)

// A message is named by who sent it, in which life, to whom, and its number among
// those. Size class, length and contents follow from the name, and the name is
// its match information:
//
//	 63  60 59  52 51  38 37  24 23   0
//	+------+------+------+------+------+
//	| class| life | from |  to  |number|
//	+------+------+------+------+------+
type message struct {
	class, life, from, to int
	number                uint32
}

const (
	maskClass  = 0xf << 60
	maskFrom   = 0x3fff << 38
	maskSender = maskFrom | 0xff<<52
	maskAll    = 1<<64 - 1

	mostEndpoints = 1 << 14
	mostMessages  = 1 << 24 // of one sender to one receiver

	connectMatch = 0xf << 60 // of connects
)

// The size classes, and the largest message of each.
const classes = 4

var classSizes = [classes]int{64, 2 << 10, 16 << 10, 200 << 10}

func (m message) match() uint64 {
	return uint64(m.class)<<60 | uint64(m.life)<<52 | uint64(m.from)<<38 | uint64(m.to)<<24 | uint64(m.number)
}

func messageOf(match uint64) message {
	return message{
		class: int(match >> 60), life: int(match >> 52 & 0xff), from: int(match >> 38 & 0x3fff),
		to: int(match >> 24 & 0x3fff), number: uint32(match & 0xffffff),
	}
}

// mix is a step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// message returns what a sender's message of that number is.
func (p *Plan) message(from, life, to int, number uint32) (m message, size int) {
	m = message{life: life, from: from, to: to, number: number}
	x := mix(p.Seed ^ m.match())
	sum := 0
	for _, w := range p.Weights {
		sum += w
	}
	roll := int(x % uint64(sum))
	for roll >= p.Weights[m.class] {
		roll -= p.Weights[m.class]
		m.class++
	}
	x = mix(x)
	least, most := 0, classSizes[m.class]
	if m.class > 0 {
		least = classSizes[m.class-1]
	}
	switch x >> 60 {
	case 0:
		size = least
	case 1:
		size = most
	default:
		size = least + int(x%uint64(most-least+1))
	}
	return m, size
}

const golden = 0x9e3779b97f4a7c15

// fill writes the contents of a message.
func fill(b []byte, match uint64) {
	x := mix(match)
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, x)
		b, x = b[8:], x+golden
	}
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}

// verify reports whether b begins the contents of a message.
func verify(b []byte, match uint64) error {
	x, at := mix(match), 0
	for ; len(b)-at >= 8; at += 8 {
		if got := binary.LittleEndian.Uint64(b[at:]); got != x {
			return fmt.Errorf("bytes %d to %d are %#x, want %#x", at, at+8, got, x)
		}
		x += golden
	}
	for i, c := range b[at:] {
		if c != byte(x>>(8*i)) {
			return fmt.Errorf("byte %d is %#x, want %#x", at+i, c, byte(x>>(8*i)))
		}
	}
	return nil
}

// buffer is memory of a send or a receive, with a guard behind it.
type buffer struct {
	mem  []byte
	size int
	rest [2][]byte
}

const (
	guard     = 16
	guardByte = 0xee
)

// bytes returns what belongs to the message.
func (b *buffer) bytes() []byte { return b.mem[:b.size] }

// segments cuts the buffer in pieces, one at least.
func (b *buffer) segments(cuts int) wire.Vec {
	all := b.mem[:b.size:b.size]
	switch {
	case cuts == 0 || b.size < 8:
		return wire.Vec{First: all}
	case cuts == 1:
		b.rest[0] = all[b.size/3:]
		return wire.Vec{First: all[:b.size/3], Rest: b.rest[:1]}
	}
	b.rest[0], b.rest[1] = all[1:b.size/2], all[b.size/2:]
	return wire.Vec{First: all[:1], Rest: b.rest[:2]}
}

func (b *buffer) guarded() error {
	for i, c := range b.mem[b.size : b.size+guard] {
		if c != guardByte {
			return fmt.Errorf("byte %d behind the buffer is %#x", i, c)
		}
	}
	return nil
}

// bufferPool keeps the memory of buffers for later ones, all of it zero.
type bufferPool struct {
	free    [classes][]buffer
	written int // buffers that were written to after their requests had ended
}

func (p *bufferPool) take(size int) buffer {
	class := 0
	for size > classSizes[class] {
		class++
	}
	var b buffer
	if n := len(p.free[class]); n > 0 {
		b = p.free[class][n-1]
		p.free[class] = p.free[class][:n-1]
		if !zero(b.mem) {
			p.written++
			clear(b.mem)
		}
	} else {
		b.mem = make([]byte, classSizes[class]+guard)
	}
	b.size = size
	for i := range guard {
		b.mem[size+i] = guardByte
	}
	return b
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// give takes a buffer back whose request has ended. It is overwritten: whoever
// still sends from it is found out.
func (p *bufferPool) give(b buffer) {
	clear(b.mem[:min(len(b.mem), b.size+guard)])
	for class, size := range classSizes {
		if len(b.mem) == size+guard {
			p.free[class] = append(p.free[class], b)
		}
	}
}
