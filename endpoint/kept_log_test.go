package endpoint

import (
	"testing"

	"gomx/transport/wire"
)

// TestAFullLogIsFilledAgainWithoutAllocations fills a log with frames of the size that is rounded up most.
func TestAFullLogIsFilledAgainWithoutAllocations(t *testing.T) {
	var (
		pool    framePool
		log     sentLog
		payload = wire.Vec{First: make([]byte, 32<<10+1)}
	)
	fill := func() {
		for !log.full(payload.Len(), healFrames, healBytes) {
			h := wire.Header{Kind: wire.Eager, Seq: log.next, Length: uint32(payload.Len())}
			log.keep(&pool, &h, &payload, 0)
		}
		if !log.acknowledge(&pool, log.next) || log.outstanding() != 0 {
			t.Fatal("not all of it was acknowledged")
		}
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n != 0 {
		t.Errorf("%v allocations for each time that the log is full", n)
	}
}
