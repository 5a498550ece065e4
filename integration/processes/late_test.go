//go:build linux

package processes_test

import (
	"encoding/binary"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// floodSize is of a message of a flood; the first one is much larger.
const (
	floodSize  = 500
	floodFirst = 300_000
)

// floods sends so many messages to its parent without a wait, and then waits for them all.
func floods(c *proc.Child) {
	ep, to := openChild(c, mx.AnyEndpoint, c.Number(0))
	count := uint64(c.Number(1))
	sends := make([]mx.Request, 0, count)
	for i := range count {
		b := make([]byte, floodLength(i))
		binary.LittleEndian.PutUint64(b, i)
		r, err := ep.Isend(b, to, i, nil)
		if err != nil {
			c.Fail(err)
		}
		sends = append(sends, r)
	}
	c.Say("sent %d", ep.ID())
	for _, r := range sends {
		if st := done(c, ep, r, nil); st.Code != mx.StatusSuccess {
			c.Fail(st.Err())
		}
	}
	c.Say("done")
	c.Hear()
}

func floodLength(i uint64) int {
	if i == 0 {
		return floodFirst
	}
	return floodSize
}

// A receiver that comes late finds the store of unexpected messages full. Everything but messages goes on meanwhile, the last
// message can be had before all others, and then those come, exactly once, in order.
func TestLateReceiver(t *testing.T) {
	testlength.Long(t)
	for _, c := range []struct {
		name, media string
		inBlocks    bool
	}{{"shm", "shm", false}, {"shm, in blocks", "shm", true}, {"tcp", "tcp", false}} {
		t.Run(c.name, func(t *testing.T) {
			aboutShm(t)
			if c.inBlocks {
				withoutSingleCopies(t)
			}
			ep := open(t, mx.WithTransports(c.media, "self"), mx.WithUnexpQueueMax(1<<20))
			count := uint64(20_000)
			sender := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + c.media}}, "floods", ep.ID(), count)
			id := sender.HearNumber("sent")
			time.Sleep(300 * time.Millisecond)

			to := connect(t, ep, id)
			if st := finish(t, ep, must[mx.Request](t)(ep.Isend(make([]byte, 8), to, 1, nil))); st.Code != mx.StatusSuccess {
				t.Error("a message to the one that floods us:", st.Code)
			}
			buf := make([]byte, floodFirst)
			receive := func(match, mask uint64, want uint64) {
				t.Helper()
				st := finish(t, ep, must[mx.Request](t)(ep.Irecv(buf, match, mask, nil)))
				if got := binary.LittleEndian.Uint64(buf); st.Code != mx.StatusSuccess || got != want || int(st.XferLength) != floodLength(want) {
					t.Fatalf("message %d: %v, number %d, %d bytes", want, st.Code, got, st.XferLength)
				}
			}
			receive(count-1, mx.MatchMaskNone, count-1)
			for i := range count - 1 {
				receive(0, 0, i)
			}
			sender.Hear("done")
		})
	}
}
