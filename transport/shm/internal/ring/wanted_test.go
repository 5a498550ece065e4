//go:build linux

package ring_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"gomx/transport/shm/internal/ring"
	"gomx/transport/wire"
)

// TestRoomMadeBeforeTheRequest puts the reader between the writer's two steps, the look at the position and the
// request to be told: the reader sees no request, so the writer must see the room.
func TestRoomMadeBeforeTheRequest(t *testing.T) {
	mem, _ := guarded(t)
	w, r := ends(t, mem)
	h, v := wire.Header{Kind: wire.Eager}, wire.Vec{}
	for w.Look(1) {
		if !w.Send(&h, &v, 0) {
			t.Fatal("no room, though there is")
		}
		h.Seq++
	}
	for range ring.PublishEvery {
		if got, _, ok := r.Next(); got == nil || !ok {
			t.Fatal("a full ring is empty")
		}
		r.Take()
	}
	if r.Publish() {
		t.Fatal("the writer is told of room that it has not asked for")
	}
	if !w.Want(1) {
		t.Error("the writer waits for room that is there, and of which nobody will tell it")
	}
}

// TestRequestMeetsRoom has the writer find the ring full at the moment in which the reader makes room, again and
// again: the one is told, or the other sees the room. It is run on other processors, too; see doc.go.
func TestRequestMeetsRoom(t *testing.T) {
	w, r := ends(t, mapped(t))
	h, v := wire.Header{Kind: wire.Eager}, wire.Vec{}
	send := func() bool {
		if !w.Send(&h, &v, 0) {
			return false
		}
		h.Seq++
		return true
	}
	rounds := uint64(50_000)
	if testing.Short() {
		rounds /= 10
	}
	var begun, over atomic.Uint64 // rounds
	var told atomic.Bool
	go func() { // the reader's part; all else is done while it waits
		for round := range rounds {
			for spins := 1; begun.Load() == round; spins++ {
				if spins%1000 == 0 {
					runtime.Gosched()
				}
			}
			told.Store(r.Publish())
			over.Store(round + 1)
		}
	}()
	sent, refused := 0, 0
	for round := range rounds {
		for send() {
		}
		r.Publish() // which takes the request back
		if got, _, ok := r.Next(); got == nil || !ok {
			t.Fatal("a full ring is empty")
		}
		r.Take()
		begun.Store(round + 1)
		for range round % 64 { // who comes first differs from round to round
			over.Load()
		}
		got := send()
		for spins := 1; over.Load() == round; spins++ {
			if spins%1000 == 0 {
				runtime.Gosched()
			}
		}
		switch {
		case got:
			sent++
		case told.Load():
			refused++
		default:
			t.Fatalf("round %d: the writer waits for room that is there, and was not told of it", round)
		}
	}
	t.Logf("the writer saw the room %d times, and was told %d times", sent, refused)
}
