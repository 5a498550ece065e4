package exs_test

import (
	"testing"
	"time"

	"gomx/exs"
	"gomx/mx"
)

// A stream's sender that is ahead goes on though nobody waits at the receiver, which has
// but posted its receive. That takes messages that travel with their data, also where
// only short ones do.
func TestSenderGoesOnAlone(t *testing.T) {
	for _, medium := range media[1:] {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			if medium != "rdma" { // where they are short anyway
				few := []mx.Param{mx.WithTransports(medium), mx.WithEagerLimit(2000)}
				w.here, w.there = w.open(few...), w.open(few...)
			}
			p := w.connect(exs.Stream, func(s *exs.Socket) {
				_, err := s.Fcntl(exs.SetStreamBufSize, 64<<10)
				w.ok(err)
			})
			all := pattern(300_000, 6)
			p.send(p.a, p.qa, all, 0)
			var e [1]exs.Event
			if n, err := p.qa.Dequeue(e[:], 20*time.Millisecond); n != 0 || err != nil {
				t.Fatalf("more than the buffer was sent before there was a receive: %d, %v", n, err)
			}
			in := make([]byte, len(all))
			p.recv(p.b, p.qb, in, exs.WaitAll)
			p.event(p.qa, exs.EvtSend, 0)
			p.event(p.qb, exs.EvtRecv, 0)
			p.same(in, all)
		})
	}
}
