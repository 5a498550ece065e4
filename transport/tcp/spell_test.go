//go:build linux

package tcp

import "testing"

// TestSpell: several polls that are late begin one, each further one makes it twice as long, up to a bound, and one in time ends it.
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
	late := func() {
		for range latePolls - 1 {
			s.waited(true, false)
			if n := run(); n != 0 {
				t.Errorf("%d frames after few polls that were late", n)
			}
		}
	}
	late()
	for want := leastSpell; want < 4*mostSpell; want *= 2 {
		s.waited(true, false)
		if n := run(); n != min(want, mostSpell) {
			t.Errorf("%d frames, want %d", n, min(want, mostSpell))
		}
	}
	s.waited(false, false)
	if n := run(); n != 0 {
		t.Errorf("%d frames after a poll in time", n)
	}
	late()
	s.waited(true, false)
	if n := run(); n != leastSpell {
		t.Errorf("%d frames when it begins anew", n)
	}
	s = spell{}
	if s.waited(true, true); run() != leastSpell {
		t.Error("with a single processor, a late poll begins none")
	}
}
