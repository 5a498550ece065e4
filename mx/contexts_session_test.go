package mx_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"gomx/internal/testlength"
	"gomx/mx"
)

// Disconnect ends the sessions of all pairs, and another Connect makes them anew.
func TestContextsDisconnectTogether(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.several(make([]string, 2)), w.several(make([]string, 2))
		for range 2 {
			toB := w.connect(a[0], b[0])
			var watches []mx.Request
			for i := range a {
				for j := range b {
					r, err := a[i].Watch(w.at(toB, j, a[i]), 0, nil)
					if err != nil {
						t.Fatal(err)
					}
					watches = append(watches, r)
				}
			}
			if err := a[0].Disconnect(toB); err != nil {
				t.Fatal(err)
			}
			for i, r := range watches {
				w.done(a[i/2], r)
			}
		}
	})
}

// A peer that is closed and opened again under its id, with other names, is connected as it is by then, in all contexts.
func TestContextsOfAnEndpointThatIsBack(t *testing.T) {
	testlength.Long(t)
	over(t, func(w *world) {
		a := w.several(make([]string, 3))
		id, names := uncommon(), [2]string{"first", "second"}
		for round := range 20 {
			b, err := w.tryOpen(id, mx.WithContexts(2, names[round%2], ""))
			if err != nil {
				w.Fatal(err)
			}
			toB := w.connect(a[0], b)
			for i := range a {
				for j := range 2 {
					to := w.at(toB, j, a[i])
					if want := []string{names[round%2], ""}[j]; to.ContextName() != want {
						w.Errorf("round %d: context %d is named %q, want %q", round, j, to.ContextName(), want)
					}
					w.succeed(a[i], w.isend(a[i], []byte{1}, to, 1))
				}
			}
			b.Close()
		}
	})
}

// ConnectContexts asks the peer, also where neither side has more than one context.
func TestConnectContextsOfOne(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		if err := a.ConnectContexts(noContext, toB, testFilter+1); !errors.Is(err, mx.ErrBadConnectionKey) {
			w.Error("a wrong filter:", err)
		}
		_, id := place(w, b)
		shut(w, b)
		err := a.ConnectContexts(noContext, toB, testFilter)
		if !errors.Is(err, mx.ErrConnectionFailed) || strings.Contains(err.Error(), "while its contexts") {
			w.Error("the peer has closed:", err)
		}
		_, err = w.tryOpen(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.ConnectContexts(noContext, toB, testFilter); err != nil {
			w.Error("the peer is open again:", err)
		}
	})
}

// Both sides may connect at once: neither takes the other's connects for a peer that has left.
func TestContextsConnectFromBothSides(t *testing.T) {
	testlength.Long(t)
	over(t, func(w *world) {
		for range 20 {
			a, b := w.several(make([]string, 3))[0], w.several(make([]string, 3))[0]
			var both sync.WaitGroup
			for _, pair := range [][2]*mx.Endpoint{{a, b}, {b, a}} {
				nic, id := place(w, pair[1])
				both.Go(func() {
					if _, err := pair[0].Connect(nic, id, testFilter, bound); err != nil {
						w.Error(err)
					}
				})
			}
			both.Wait()
			shut(w, a)
			shut(w, b)
		}
	})
}

// Who is denied the windows is so in all contexts, and who is given up, too.
func TestContextsAreFencedTogether(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	over(t, func(w *world) {
		a, b := w.several(make([]string, 2)), w.several(make([]string, 3))
		toA := w.connect(b[0], a[0])
		for _, own := range a {
			nic, id := place(w, own)
			if err := own.DenyWindows(nic, id); err != nil { // ourselves
				t.Fatal(err)
			}
		}
		put := func(want mx.StatusCode) {
			t.Helper()
			for i := range a {
				h := openWindow(w, a[i], make([]byte, 8), readWrite).Handle()
				for j := range b {
					if st := w.done(b[j], w.iput(b[j], words(9), w.at(toA, i, b[j]), h, 0)); st.Code != want {
						t.Errorf("a put from context %d to %d: %v, want %v", j, i, st.Code, want)
					}
				}
			}
		}
		put(mx.StatusSuccess)
		nic, id := place(w, b[0])
		if err := a[1].DenyWindows(nic, id); err != nil {
			t.Fatal(err)
		}
		put(mx.StatusRDMANotPermitted)
		var watches []mx.Request
		for j := range b {
			r, err := b[j].Watch(w.at(toA, 1, b[j]), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			watches = append(watches, r)
		}
		if err := b[1].GiveUp(w.at(toA, 0, b[1])); err != nil {
			t.Fatal(err)
		}
		for j, r := range watches {
			w.done(b[j], r)
		}
	})
}
