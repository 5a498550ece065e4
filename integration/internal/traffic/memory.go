package traffic

import (
	"bytes"
	"fmt"
	"strings"

	"gomx/mx"
)

// lists has the bytes of messages in lists of pieces, which lie in all kinds of
// memory: that of the Go heap, of mx.Alloc, and what the endpoint has registered.
type lists struct {
	p          *peer
	allocated  [][]byte
	registered []*mx.Memory
}

// kindsOfMemory is how many there are.
const kindsOfMemory = 3

// memory returns n bytes of one kind of memory.
func (l *lists) memory(kind, n int) []byte {
	switch kind % kindsOfMemory {
	case 1:
		b, err := mx.Alloc(n)
		l.p.check(err)
		l.allocated = append(l.allocated, b)
		return b
	case 2:
		m, err := l.p.ep.Register(make([]byte, n))
		l.p.check(err)
		l.registered = append(l.registered, m)
		return m.Bytes()
	}
	return make([]byte, n)
}

// free gives all of it back.
func (l *lists) free() {
	for _, m := range l.registered {
		l.p.check(m.Deregister())
	}
	for _, b := range l.allocated {
		l.p.check(mx.Free(b))
	}
	l.registered, l.allocated = nil, nil
}

// copies returns a text in memory of each kind.
func (l *lists) copies(text []byte) (all [kindsOfMemory][]byte) {
	for kind := range all {
		all[kind] = l.memory(kind, len(text))
		copy(all[kind], text)
	}
	return all
}

// cut appends to dst some bytes of the text, cut into one to four pieces, each of
// another copy.
func cut(dst [][]byte, copies *[kindsOfMemory][]byte, from, n, seed int) [][]byte {
	count := 1 + seed%4
	for j := range count {
		begin, end := from+n*j/count, from+n*(j+1)/count
		dst = append(dst, copies[(seed+j)%kindsOfMemory][begin:end])
	}
	return dst
}

// borders are where the pieces of a receive end, so that also short messages come in
// several.
var borders = []int{5, 64, 1000, 9000, 70_000}

// pieces returns pieces for n bytes, of all kinds of memory.
func (l *lists) pieces(n, seed int) (pieces [][]byte) {
	begin := 0
	for j, end := range append(borders[:len(borders):len(borders)], n) {
		pieces = append(pieces, l.memory(seed+j, end-begin))
		begin = end
	}
	return pieces
}

// differ compares the pieces with want, which they should begin with, and clears as much of them. It
// says in which pieces bytes differ, and how; "" if none do.
func differ(pieces [][]byte, want []byte) string {
	var wrong []string
	for i, piece := range pieces {
		piece = piece[:min(len(piece), len(want))]
		if !bytes.Equal(piece, want[:len(piece)]) {
			wrong = append(wrong, fmt.Sprintf("piece %d: %s", i, difference(piece, want)))
		}
		want = want[len(piece):]
		clear(piece)
	}
	return strings.Join(wrong, ", ")
}

// difference says between which bytes got differs from want, and with what it begins there.
func difference(got, want []byte) string {
	var at []int
	for i, b := range got {
		if b != want[i] {
			at = append(at, i)
		}
	}
	first, last := at[0], at[len(at)-1]
	return fmt.Sprintf("%d of bytes %d to %d of %d are wrong, %x... instead of %x...", len(at), first, last, len(got),
		got[first:min(first+8, len(got))], want[first:min(first+8, len(want))])
}
