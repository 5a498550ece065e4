package exs_test

import (
	"sync/atomic"
	"testing"
	"time"

	"gomx/exs"
)

// A socket is closed, or receives no more, between the handler, which left a message to the endpoint, and the endpoint, which then finds no receive for it.
// The sender does not wait for ever.
func TestCloseWithAMessageInHand(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		for _, how := range []string{"reset", "close", "shutdown"} {
			p := w.connect(typ)
			first, over := true, atomic.Bool{}
			before := func() {
				switch {
				case !first:
				case typ == exs.SeqPacket:
					p.recv(p.b, nil, make([]byte, 300_000), exs.Unsignaled) // the packet is left to it
				default:
					time.Sleep(20 * time.Millisecond) // so much comes that some of it stays with the sender
				}
				first = false
			}
			w.ok(p.there.AroundAnnounced(before, func() {
				switch {
				case over.Swap(true):
				case how == "reset":
					w.ok(p.b.Close(exs.DontLinger, p.qb, nil))
				case how == "close":
					w.ok(p.b.Close(0, p.qb, nil))
				default:
					w.ok(p.b.Shutdown(exs.ShutRD, 0, p.qb, nil))
				}
			}))
			p.send(p.a, p.qa, make([]byte, 300_000), 0)
			var e [1]exs.Event
			if n, err := p.qa.Dequeue(e[:], bound); n != 1 || err != nil {
				w.Fatalf("%s, over %v: the send does not end", how, over.Load())
			}
			w.ok(p.a.BlockingClose())
			if !over.Swap(true) || how == "shutdown" {
				w.ok(p.b.BlockingClose())
			}
		}
	})
}
