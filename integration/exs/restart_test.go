//go:build linux

package exs_test

import (
	"flag"
	"testing"
	"time"

	"gomx/bench/stats"
	"gomx/internal/testlength"
)

var restarts = flag.Int("exs.restarts", 20, "restarts of the server in TestDialAfterRestart")

// A server is killed, and another one, whose endpoint gets the same number, is there at once. A client with connections to the
// first one, which it may not know to be gone, dials the second.
func TestDialAfterRestart(t *testing.T) {
	testlength.Long(t)
	for _, medium := range []string{"shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			l, took := library(t, medium), []float64{}
			for i := range *restarts {
				server := start(t, medium, "echo", conns, 1)
				at, began := server.Hear("at "), time.Now()
				conn, err := l.Dial("exs", at)
				if err != nil {
					t.Fatalf("after %d restarts: %v", i, err)
				}
				took = append(took, time.Since(began).Seconds())
				if _, err := conn.Write(make([]byte, messageSize)); err != nil {
					t.Fatal(err)
				}
				if i%2 == 0 {
					_ = conn.Close()
				}
				server.Kill()
			}
			t.Logf("seconds of the dials: %+v", stats.Summarize(took))
		})
	}
}
