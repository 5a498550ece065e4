package wire

import "encoding/binary"

// CopyBytes is copy for the bytes of a message. Those of one or two words, which most small messages have, are moved by two loads and two stores: a call
// takes several times as long.
func CopyBytes(to, b []byte) int {
	if n := len(b); n >= 8 && n <= 16 && n <= len(to) {
		first, last := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
		binary.LittleEndian.PutUint64(to, first)
		binary.LittleEndian.PutUint64(to[n-8:], last)
		return n
	}
	return copy(to, b)
}
