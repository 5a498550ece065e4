//go:build linux

package tcp

import (
	"testing"
	"time"

	"gomx/transport"
)

// TestSpell: each poll that is late makes the spell twice as long, up to a bound, and one in time ends it.
func TestSpell(t *testing.T) {
	var s spell
	run := func() (n int) {
		for s.next() {
			n++
		}
		return n
	}
	if n := run(); n != 0 {
		t.Errorf("%d frames at first", n)
	}
	for want := leastSpell; want < 4*mostSpell; want *= 2 {
		s.waited(time.Second)
		if n := run(); n != min(want, mostSpell) {
			t.Errorf("%d frames, want %d", n, min(want, mostSpell))
		}
	}
	s.waited(transport.SoonIs)
	if n := run(); n != 0 {
		t.Errorf("%d frames after a poll in time", n)
	}
	s.waited(time.Second)
	if n := run(); n != leastSpell {
		t.Errorf("%d frames when it begins anew", n)
	}
}
