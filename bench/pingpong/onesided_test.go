package pingpong

import (
	"errors"
	"testing"

	"gomx/mx"
)

func openSelf(t *testing.T, p Plan) *side {
	t.Helper()
	done, err := initialize()
	if err != nil {
		t.Fatal(err)
	}
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, DefaultFilter, mx.WithTransports("self"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(ep.Close(), done()); err != nil {
			t.Error(err)
		}
	})
	s, err := newSide(t.Context(), ep, ep.Addr(), DefaultFilter)
	if err != nil {
		t.Fatal(err)
	}
	s.plan = p
	if err := s.allocate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWindowsAreChecked changes a byte of a window behind the operations.
func TestWindowsAreChecked(t *testing.T) {
	for _, op := range []OneSided{Put, Get, Atomic} {
		s := openSelf(t, Plan{Lengths: []int{64}, OneSided: op})
		window := make([]byte, len(s.buf))
		var err error
		if s.window, err = s.openWindow(window); err != nil {
			t.Fatal(err)
		}
		for _, spoil := range []bool{false, true} {
			if err := s.prepare(64); err != nil {
				t.Fatal(err)
			}
			if op == Get && spoil {
				window[63]++
			}
			if err := s.access(64, 300); err != nil {
				t.Fatal(err)
			}
			if op != Get && spoil {
				window[63]++
			}
			if err := s.checkWindow(64); errors.Is(err, ErrCorrupt) != spoil {
				t.Errorf("%s, spoiled %v: %v", op, spoil, err)
			}
		}
	}
}

func TestRunAtomics(t *testing.T) {
	p := Plan{Lengths: []int{8, mx.MaxAtomic, 64}, Iterations: 50, Warmup: 3, OneSided: Atomic}
	for _, transport := range []string{"self", "mem"} {
		at := Setup{Transport: transport, Board: mx.AnyNIC, Endpoint: mx.AnyEndpoint, RemoteEndpoint: mx.AnyEndpoint, Filter: 7, Spin: LibrarySpin, Patience: mx.Infinite}
		n := 0
		w := Watcher{Began: func() error { return nil }, Result: func(r Result) error { n++; return nil }}
		if err := Run(t.Context(), at, &p, w); err != nil || n != 3 {
			t.Errorf("%s: %d results, %v", transport, n, err)
		}
	}
}
