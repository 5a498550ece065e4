// Package payload makes the bytes that programs of bench/ordinary send, and checks those that they receive.
package payload

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
)

// period is after how many bytes a stream repeats itself: a prime, so that bytes which are missing, doubled or swapped by the block
// are seen.
const period = 65521

// edge is how many bytes at the beginning and the end of a piece are looked at where the time of a look at all of them would show.
const edge = 16

// block is a period of a stream.
var block = sync.OnceValue(func() []byte {
	b := make([]byte, period)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never an error
	return b
})

// Bytes are the first so many bytes of a stream.
func Bytes(length int) []byte {
	b := make([]byte, length)
	fill(b, 0)
	return b
}

// fill has b hold a stream from offset at on.
func fill(b []byte, at int64) {
	for len(b) > 0 {
		n := copy(b, block()[at%period:])
		b, at = b[n:], at+int64(n)
	}
}

// Same is an error if a message is another one than was expected.
func Same(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("received %d bytes that are not the %d that were sent", len(got), len(want))
	}
	return nil
}

// Reader returns the first so many bytes of a stream, as an io.Reader.
type Reader struct{ length, at int64 }

// NewReader returns a Reader of so many bytes.
func NewReader(length int64) *Reader { return &Reader{length: length} }

// Checker is an io.Writer that wants the bytes of a Reader. With Whole it looks at all bytes, else at both edges of
// each piece that is written.
type Checker struct {
	Whole bool
	at    int64
}
