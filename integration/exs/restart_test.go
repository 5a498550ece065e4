//go:build linux

package exs_test

import (
	"testing"
)

// A server is killed, and another one, whose endpoint gets the same number, is there at once. A client with connections to the
// first one, which it may not know to be gone, dials the second.
func TestDialAfterRestart(t *testing.T) {
	for _, medium := range []string{"shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			l := library(t, medium)
			for i := range 20 {
				server := start(t, medium, "echo", conns, 1)
				conn, err := l.Dial("exs", server.Hear("at "))
				if err != nil {
					t.Fatalf("after %d restarts: %v", i, err)
				}
				if _, err := conn.Write(make([]byte, messageSize)); err != nil {
					t.Fatal(err)
				}
				if i%2 == 0 {
					_ = conn.Close()
				}
				server.Kill()
			}
		})
	}
}
