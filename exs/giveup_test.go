package exs_test

import (
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
)

// A receive that ends well beside the end of its connection has its packet, at whatever moment that end comes.
func TestReceiveBesideReset(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	rounds, pause := 400, time.Microsecond
	if testing.Short() {
		rounds, pause = 50, 8*time.Microsecond
	}
	over(t, packets, func(w *world, typ int) {
		const size = 500_000
		out := pattern(size, 1)
		for round := range rounds {
			p := w.connect(typ)
			var n int
			var err error
			in, ended := make([]byte, size), make(chan struct{})
			go func() { // which polls
				n, err = p.b.BlockingRecv(in, 0, nil)
				close(ended)
			}()
			p.send(p.a, p.qa, out, 0)
			for until := time.Now().Add(time.Duration(round) * pause); time.Now().Before(until); {
			}
			p.ok(p.b.Close(exs.Block|exs.DontLinger, nil, nil))
			w.within("the receive", func() { <-ended })
			if err == nil {
				p.same(in[:n], out[:n])
			}
			p.ok(p.a.Close(exs.Block|exs.DontLinger, nil, nil))
		}
	})
}
