package mx_test

import (
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

// TestAgeOfAFreshRequest: a request is as old as the time since it began, also where nobody has read the clock before: after a rest,
// and in the middle of messages that are there at once.
func TestAgeOfAFreshRequest(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	const rest, most = 700 * time.Millisecond, 0.6
	over(t, func(w *world) {
		a, b, toB, toA := w.pair()
		age := func(when string) {
			r := w.irecv(a, make([]byte, 8), 99, mx.MatchMaskNone)
			for _, p := range a.Snapshot().Pending {
				if p.Age > most {
					w.Errorf("%s: a receive that has just begun is %.2f s old", when, p.Age)
				}
			}
			if ok, err := a.Cancel(r); !ok || err != nil {
				w.Error(ok, err)
			}
		}
		time.Sleep(rest)
		age("after a rest")
		out, in := make([]byte, 8), make([]byte, 8)
		for end := time.Now().Add(rest); time.Now().Before(end); {
			r := w.irecv(b, in, 1, mx.MatchMaskNone)
			w.succeed(a, w.isend(a, out, toB, 1))
			w.succeed(b, r)
			r = w.irecv(a, in, 1, mx.MatchMaskNone)
			w.succeed(b, w.isend(b, out, toA, 1))
			w.succeed(a, r)
		}
		age("among messages")
		time.Sleep(rest)
		age("after another rest")
	})
}
