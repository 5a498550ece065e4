//go:build linux

package processes_test

import (
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// takesMuch receives large messages, and says how the first one that fails has ended, or that all have come. Arguments: the
// parent's endpoint, and how many there are.
func takesMuch(c *proc.Child) {
	ep, to := openChild(c, mx.AnyEndpoint, c.Number(0))
	c.Say("open %d", ep.ID())
	b := make([]byte, 1<<20)
	for i := range c.Number(1) {
		r, err := ep.IrecvFrom(b, to, uint64(i), mx.MatchMaskNone, nil)
		if st := done(c, ep, r, err); st.Code != mx.StatusSuccess {
			c.Say("ends message %d: %v", i, st.Code)
			return
		}
	}
	c.Say("ends well")
}

// TestOwnStandstill: a process that was stopped for longer than its request timeout, in the middle of a large receive, does not take its
// peer for one that does not move.
func TestOwnStandstill(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	aboutShm(t)
	for _, media := range []string{"shm", "tcp"} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			const count, stops, timeout = 2500, 4, 600 * time.Millisecond
			ep := open(t, mx.WithTransports(media, "self"))
			child := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + media, "MX_REQUEST_TIMEOUT=" + timeout.String()}},
				"takes much", ep.ID(), count)
			to := connect(t, ep, child.HearNumber("open"))
			sent := make(chan mx.StatusCode, 1)
			go func() {
				b := make([]byte, 1<<20)
				for i := range count {
					st := finish(t, ep, must[mx.Request](t)(ep.Isend(b, to, uint64(i), nil)))
					if st.Code != mx.StatusSuccess {
						sent <- st.Code
						return
					}
				}
				sent <- mx.StatusSuccess
			}()
			for range stops {
				time.Sleep(10 * time.Millisecond)
				child.Stop()
				time.Sleep(2 * timeout)
				child.Signal(syscall.SIGCONT)
			}
			if got := child.Hear("ends "); got != "well" {
				t.Errorf("the receiver ends %s", got)
			}
			if code := <-sent; code != mx.StatusSuccess {
				t.Errorf("a send has ended with %v", code)
			}
		})
	}
}
