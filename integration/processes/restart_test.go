//go:build linux

package processes_test

import (
	"flag"
	"testing"
	"time"

	"gomx/bench/stats"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

var restarts = flag.Int("processes.restarts", 30, "restarts of the server in TestConnectAfterRestart")

// returns opens an endpoint under a number that an earlier process had, until its parent ends it; told to, it
// closes it first.
func returns(c *proc.Child) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, c.Number(0), filter)
	if err != nil {
		c.Fail(err)
	}
	c.Say("open %d", ep.ID())
	c.Hear()
	if err := ep.Close(); err != nil {
		c.Fail(err)
	}
	c.Say("closed")
}

// A server ends, or is killed, with messages under way to it, and another one takes its number at once. A
// client connects to it all the same, though it may not have noticed the end of the first.
func TestConnectAfterRestart(t *testing.T) {
	testlength.Long(t)
	for _, media := range []string{"shm", "tcp"} {
		t.Run(media, func(t *testing.T) {
			aboutShm(t)
			ep := open(t, mx.WithTransports(media))
			id := ep.ID() + 1000
			took := []float64{}
			for i := range *restarts {
				server := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + media}}, "returns", id)
				server.Hear("open")
				began := time.Now()
				to, err := ep.Connect(board(t), id, filter, promise)
				if err != nil {
					t.Fatalf("after %d restarts: %v", i, err)
				}
				took = append(took, time.Since(began).Seconds())
				for range i % 3 {
					if _, err := ep.Isend(make([]byte, 100), to, 1, nil); err != nil {
						t.Fatal(err)
					}
				}
				if i%2 == 1 {
					server.Say("close")
					server.Hear("closed")
				}
				server.Kill()
			}
			t.Logf("seconds of the connects: %+v", stats.Summarize(took))
		})
	}
}
