package echo

import (
	"errors"
	"fmt"
)

// Messages is how many messages a client sends, MaxBytes how long they are at most.
const (
	Messages = 100
	MaxBytes = 64 << 10
)

// ErrChanged says that a message came back with other contents.
var ErrChanged = errors.New("the message came back changed")

// length is that of message i: some are short, some long.
func length(i int) int { return 1 + (i*i*613)%MaxBytes }

// Fill writes message i, and returns the part of the buffer that it takes.
func Fill(buffer []byte, i int) []byte {
	b := buffer[:length(i)]
	for k := range b {
		b[k] = contents(i, k)
	}
	return b
}

// Check compares what came back with message i.
func Check(b []byte, i int) error {
	if len(b) != length(i) {
		return fmt.Errorf("message %d: %w: %d bytes of %d", i, ErrChanged, len(b), length(i))
	}
	for k := range b {
		if b[k] != contents(i, k) {
			return fmt.Errorf("message %d: %w at byte %d", i, ErrChanged, k)
		}
	}
	return nil
}

func contents(i, k int) byte { return byte(31*i + k + k>>8) }

func total() (bytes int) {
	for i := range Messages {
		bytes += length(i)
	}
	return bytes
}
