package exs_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"gomx/exs"
)

// The events of small packets come in the order of the packets, also where one goroutine starts receives while another one
// takes events, and packets come before their receives as well as after them.
func TestEventsOfPacketsInOrder(t *testing.T) {
	const packetsSent = 10000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.NumCPU())))
	over(t, packets, func(w *world, typ int) {
		for range 4 {
			p := w.connect(typ)
			q := w.queue(w.there)
			go func() {
				for i := range packetsSent {
					_, err := p.b.Recv(make([]byte, 4), exs.CreditWait, q, i, exs.Unregistered)
					if err != nil {
						t.Error(err)
						return
					}
				}
			}()
			go func() {
				var b [4]byte
				for i := range uint32(packetsSent) {
					binary.LittleEndian.PutUint32(b[:], i)
					if _, err := p.a.BlockingSend(b[:], 0, nil); err != nil {
						t.Error(err)
						return
					}
				}
			}()
			for i := range packetsSent {
				e := w.event(q, exs.EvtRecv, 0)
				if got := binary.LittleEndian.Uint32(e.Buffer); e.AHandle != i || got != uint32(i) {
					t.Fatalf("event %d is that of receive %v, with packet %d", i, e.AHandle, got)
				}
			}
			w.ok(p.a.BlockingClose())
			w.ok(p.b.BlockingClose())
		}
	})
}
