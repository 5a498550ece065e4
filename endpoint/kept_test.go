package endpoint

import (
	"testing"

	"gomx/internal/testlength"
	"gomx/transport/wire"
)

// Memory of a size that is no longer in use must not keep that of another from being
// used again.
func TestFramePoolFollowsTheSizesInUse(t *testing.T) {
	testlength.Alone(t)
	testlength.Long(t)
	var pool framePool
	for _, size := range []int{4096, 64, 60_000, 1, 64} {
		lent := make([][]byte, 2*poolIdle/size+1)
		for i := range lent {
			lent[i] = pool.get(size)
		}
		for _, b := range lent {
			pool.put(b)
		}
		if pool.idle > poolIdle {
			t.Fatalf("%d bytes lie idle", pool.idle)
		}
		if n := testing.AllocsPerRun(1000, func() { pool.put(pool.get(size)) }); n != 0 {
			t.Errorf("%d bytes: %v allocations a frame", size, n)
		}
	}
	idle := 0
	for _, free := range pool.free {
		for _, b := range free {
			idle += cap(b)
		}
	}
	if idle != pool.idle {
		t.Errorf("%d bytes lie idle, counted %d", idle, pool.idle)
	}
}

// Once frames are acknowledged, acks hold up nothing, whether or not another frame is numbered afterwards: a peer whose link is
// full must not be taken for one that waits for acks, which may never come.
func TestAcksEndTheWaitForAcks(t *testing.T) {
	var pool framePool
	l := sentLog{kept: frameRing{}}
	l.keep(&pool, &wire.Header{Kind: wire.Put}, &wire.Vec{}, 0)
	l.stuck = l.full(0, 1, 1)
	if !l.acknowledge(&pool, l.base) || !l.stuck {
		t.Error("an ack of nothing new has ended the wait")
	}
	if !l.acknowledge(&pool, l.next) || l.stuck {
		t.Error("still waits for acks, though none is outstanding")
	}
}
