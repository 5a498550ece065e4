package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// course is a connection that is measured, seen from one side. Only the side that
// was connected to takes and follows; it calls ready when messages may come.
type course interface {
	blast(count int, check bool) error                      // sends messages, and waits until all have been received
	take(count int, check bool, ready func() error) error   // receives them, and says so
	lead(first, count int, check bool) error                // sends messages, each when the one before is back
	follow(count int, check bool, ready func() error) error // sends them back
	transport() string                                      // what the connection runs over
	abort()                                                 // makes all calls end soon, with errors; from any goroutine
	close() error
}

// errCorrupt says that a message did not arrive as it was sent.
var errCorrupt = errors.New("corrupt message")

// stamp fills a message with contents that no other place and no other message
// nearby has.
func stamp(b []byte, number int) {
	for i := range b {
		b[i] = byte(i + i>>8 + number)
	}
	if len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, uint64(number))
	}
}

// verify checks the contents of a message.
func verify(b []byte, number int) error {
	if len(b) >= 8 {
		if got := binary.LittleEndian.Uint64(b); got != uint64(number) {
			return fmt.Errorf("%w: number %d, want %d", errCorrupt, got, number)
		}
	}
	for i := range b {
		if i >= min(8, len(b)&^7) && b[i] != byte(i+i>>8+number) {
			return fmt.Errorf("%w: byte %d of %d of message %d", errCorrupt, i, len(b), number)
		}
	}
	return nil
}
