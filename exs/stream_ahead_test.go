package exs_test

import (
	"sync"
	"testing"

	"gomx/exs"
)

// TestBothWriteFirst: each side sends more than the buffer has at first before it
// receives anything. They do it again when each knows that the other has received.
func TestBothWriteFirst(t *testing.T) {
	over(t, streams, func(w *world, typ int) {
		p := w.connect(typ)
		w.within("both sides write, then read", func() {
			var sides sync.WaitGroup
			for i, s := range []*exs.Socket{p.a, p.b} {
				sides.Go(func() {
					for round := range 3 {
						out, in := pattern(300_000, byte(i+2*round)), make([]byte, 300_000)
						if n, err := s.Write(out); n != len(out) || err != nil {
							t.Errorf("%d bytes sent, %v", n, err)
						}
						if n, err := s.BlockingRecv(in, exs.WaitAll, exs.Unregistered); n != len(in) || err != nil {
							t.Errorf("%d bytes received, %v", n, err)
						}
						if want := pattern(300_000, byte(1-i+2*round)); string(in) != string(want) {
							t.Error("not the bytes that were sent")
						}
					}
				})
			}
			sides.Wait()
		})
	})
}
