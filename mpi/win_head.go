package mpi

import (
	"encoding/binary"
	"sync"
)

// head is what comes first in questions and notes about windows.
type head struct {
	id     uint64
	target uint32 // the rank in the world whose memory it is about
	origin uint32 // the rank that asks, likewise
	offset uint64 // bytes; of a lock, the number of the attempt
	flag   uint8  // the operation; of a lock, whether it is exclusive
}

// headSize is a multiple of 8, so that what follows is aligned.
const headSize = 32

// The answers begin with one of these.
const (
	answerDone byte = iota + 1
	answerNoWindow
	answerRange
	answerLock
	answerDead
)

// buffer is memory for a question and its answer.
type buffer struct {
	head   [headSize]byte
	answer [1 + 64]byte
	large  []byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func (b *buffer) space(n int) []byte {
	if n <= len(b.answer) {
		return b.answer[:n]
	}
	if cap(b.large) < n {
		b.large = make([]byte, 1+largestPiece)
	}
	return b.large[:n]
}

// write writes the head into the buffer.
func (w *window) write(b *buffer, rank int, h head) []byte {
	binary.LittleEndian.PutUint64(b.head[0:], w.id)
	binary.LittleEndian.PutUint32(b.head[8:], uint32(w.c.world[rank]))
	binary.LittleEndian.PutUint32(b.head[12:], uint32(w.c.world[w.c.rank]))
	binary.LittleEndian.PutUint64(b.head[16:], h.offset)
	b.head[24] = h.flag
	return b.head[:]
}

func readHead(b []byte) head {
	return head{
		id:     binary.LittleEndian.Uint64(b),
		target: binary.LittleEndian.Uint32(b[8:]),
		origin: binary.LittleEndian.Uint32(b[12:]),
		offset: binary.LittleEndian.Uint64(b[16:]),
		flag:   b[24],
	}
}
