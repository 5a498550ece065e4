package exs_test

import (
	"io"
	"net"
	"testing"
	"time"

	"gomx/exs"
)

// A stranger that sends a hello and hangs up leaves nothing pending: the listener does not wait for its next message.
func TestStrangersWhoGo(t *testing.T) {
	w := newWorld(t, "mem")
	ln := w.listens()
	greeting := append([]byte("gomx exs\x01\x00\x01"), make([]byte, 61)...)
	greeting[36] = exs.DefaultCredits
	for range 20 {
		c, err := net.Dial("tcp", ln.Addr().String())
		w.ok(err)
		_, err = c.Write(greeting)
		w.ok(err)
		_, err = io.ReadFull(c, make([]byte, len(greeting)))
		w.ok(err)
		w.ok(c.Close())
	}
	for end := time.Now().Add(bound / 2); ln.Pending() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) { // it would wait twice as long
			t.Fatalf("%d handshakes are pending still", ln.Pending())
		}
	}
}
