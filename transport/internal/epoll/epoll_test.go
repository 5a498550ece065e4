//go:build linux

package epoll_test

import (
	"os"
	"testing"

	"gomx/transport/internal/epoll"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

func write(t *testing.T, w *os.File) {
	t.Helper()
	if _, err := w.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
}

func newSet(t *testing.T) *epoll.Set {
	t.Helper()
	s, err := epoll.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestEachChangeOnce reads nothing, so that what is there stays there.
func TestEachChangeOnce(t *testing.T) {
	s := newSet(t)
	r, w := pipe(t)
	expect := func(when string, want ...epoll.Event) {
		t.Helper()
		n := s.Take()
		if n != len(want) {
			t.Fatalf("%s: %d events, want %d", when, n, len(want))
		}
		for i, e := range want {
			if got := s.Event(i); got != e {
				t.Errorf("%s: %+v, want %+v", when, got, e)
			}
		}
	}
	if err := s.Add(int(r.Fd()), 7); err != nil {
		t.Fatal(err)
	}
	expect("at first")
	write(t, w)
	expect("after a byte", epoll.Event{Key: 7, Readable: true})
	expect("told already")
	write(t, w)
	expect("after another byte", epoll.Event{Key: 7, Readable: true})
	_ = w.Close()
	expect("at the end", epoll.Event{Key: 7, Readable: true, Writable: true, Ended: true})
	s.Remove(int(r.Fd()))
	expect("once removed")
}

func TestMoreThanOneTakeHolds(t *testing.T) {
	s := newSet(t)
	seen := map[int32]int{}
	for key := range int32(epoll.Most + 5) {
		r, w := pipe(t)
		if err := s.Add(int(r.Fd()), key); err != nil {
			t.Fatal(err)
		}
		write(t, w)
	}
	for n := epoll.Most; n == epoll.Most; {
		n = s.Take()
		for i := range n {
			seen[s.Event(i).Key]++
		}
	}
	for key := range int32(epoll.Most + 5) {
		if seen[key] != 1 {
			t.Errorf("told %d times of %d, want once", seen[key], key)
		}
	}
}

func TestAddWhatIsNotOpen(t *testing.T) {
	if err := newSet(t).Add(-1, 0); err == nil {
		t.Error("a descriptor that is not open was added")
	}
}
