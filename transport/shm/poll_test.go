//go:build linux

package shm

import (
	"testing"

	"gomx/transport/wire"
)

// Of many peers those that speak are looked at in every Poll before long, wherever they stand, and those that have fallen
// silent are not looked at in every Poll.
func TestWhoSpeaksIsHeardAtOnce(t *testing.T) {
	const peers, speakers = 40, 20
	p, r := target(t)
	var speaking []*link
	for i := range peers {
		if _, there := couple(t, p, r, int32(i)); i%2 == 0 {
			speaking = append(speaking, there)
		}
	}
	h := wire.Header{Kind: wire.Eager, Length: 8}
	round := func() (polls int) {
		var l listener
		for _, there := range speaking {
			if !there.Send(&h, &wire.Vec{First: make([]byte, 8)}, 0) {
				t.Fatal("no room for a frame")
			}
		}
		for ; len(l.heard) < speakers; polls++ {
			if p.Poll(&l); polls > quietTurns {
				t.Fatalf("%d of %d frames in %d polls", len(l.heard), speakers, polls)
			}
		}
		return polls
	}
	round()
	for range 2 * quietTurns {
		if polls := round(); polls != 1 {
			t.Errorf("%d polls until all have been heard", polls)
		}
	}
	for range 10 * busyTurns {
		p.Poll(nothing{})
	}
	if p.busy != 0 {
		t.Errorf("%d links are still busy, though none has spoken for long", p.busy)
	}
}

// A poll after one that has found nothing does not look into the line behind what has come, and those after it deliver all there is.
func TestFirstFrameComesAlone(t *testing.T) {
	p, r := target(t)
	_, there := couple(t, p, r, 1)
	h := wire.Header{Kind: wire.Eager, Length: 64} // a line each
	for round, counts := range [][]int{{1, 4, 4}, {1, 4, 4}} {
		p.Poll(nothing{})
		var l listener
		for range counts[len(counts)-1] {
			if !there.Send(&h, &wire.Vec{First: make([]byte, 64)}, 0) {
				t.Fatal("no room for a frame")
			}
		}
		for poll, want := range counts {
			p.Poll(&l)
			if len(l.heard) != want {
				t.Errorf("round %d: %d frames after poll %d, not %d", round, len(l.heard), poll, want)
			}
		}
	}
}
