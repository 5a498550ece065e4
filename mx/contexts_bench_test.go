package mx_test

import (
	"fmt"
	"sync"
	"testing"

	"gomx/mx"
)

// BenchmarkContexts is what several goroutines exchange, each with both sides of a pair of contexts of its own; and what they exchange that
// share one context. An operation is a message of 8 B that is sent, received and waited for.
func BenchmarkContexts(b *testing.B) {
	for _, medium := range []string{"mem", "shm"} {
		for _, c := range []struct{ contexts, goroutines int }{{1, 1}, {2, 2}, {1, 2}} {
			b.Run(fmt.Sprintf("%s/contexts=%d/goroutines=%d", medium, c.contexts, c.goroutines), func(b *testing.B) {
				w := newWorld(b, medium)
				from, to := w.several(make([]string, c.contexts)), w.several(make([]string, c.contexts))
				addr := w.connect(from[0], to[0])
				b.ResetTimer()
				var all sync.WaitGroup
				for g := range c.goroutines {
					i := g % c.contexts
					here, there, at := from[i], to[i], w.at(addr, i, from[i])
					all.Go(func() {
						buf := make([]byte, 256) // with cache lines of its own
						for range b.N / c.goroutines {
							if err := exchangeOne(here, there, at, uint64(g), buf[64:72], buf[128:136]); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
			})
		}
	}
}

func exchangeOne(from, to *mx.Endpoint, addr mx.EndpointAddr, match uint64, out, in []byte) error {
	recv, err := to.Irecv(in, match, exact, nil)
	if err != nil {
		return err
	}
	send, err := from.Isend(out, addr, match, nil)
	if err != nil {
		return err
	}
	if _, _, err = from.Wait(send, bound); err == nil {
		_, _, err = to.Wait(recv, bound)
	}
	return err
}
