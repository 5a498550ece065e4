package mx_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

// names returns what Connect needs of endpoints.
func (w *world) names(eps ...*mx.Endpoint) (names []mx.PeerName) {
	w.Helper()
	for _, ep := range eps {
		nic, id := place(w, ep)
		names = append(names, mx.PeerName{NIC: nic, Endpoint: id, Filter: testFilter})
	}
	return names
}

func TestConnectAll(t *testing.T) {
	over(t, func(w *world) {
		a := w.open()
		var others []*mx.Endpoint
		for range 100 {
			others = append(others, w.open())
		}
		names := w.names(others...)
		names = append(names, names[7])
		addrs, err := a.ConnectAll(noContext, names)
		if err != nil {
			w.Fatal(err)
		}
		for i, ep := range append(others, others[7]) {
			if nic, id, err := mx.DecomposeEndpointAddr(addrs[i]); nic != names[i].NIC || id != names[i].Endpoint || err != nil {
				w.Fatalf("address %d is %v", i, addrs[i])
			}
			r := w.irecv(ep, make([]byte, 1), uint64(i), exact)
			w.succeed(a, w.isend(a, []byte{1}, addrs[i], uint64(i)))
			w.succeed(ep, r)
		}
		if list := a.Pending(); len(list) != 0 {
			w.Errorf("left: %v", list)
		}
		if addrs, err := a.ConnectAll(noContext, nil); len(addrs) != 0 || err != nil {
			w.Errorf("nobody: %v, %v", addrs, err)
		}
	})
}

// TestConnectAllNamesThoseThatFail has a wrong filter, a wrong number and an impossible one among those that answer.
func TestConnectAllNamesThoseThatFail(t *testing.T) {
	over(t, func(w *world) {
		a, b, c := w.open(), w.open(), w.open()
		gone := w.open()
		names := w.names(b, gone, b, b, c)
		gone.Close()
		names[2].Filter++
		names[3].Endpoint = mx.MaxEndpoints
		addrs, err := a.ConnectAll(noContext, names)
		var failed *mx.Error
		if !errors.As(err, &failed) || !errors.Is(err, mx.ErrBadConnectionKey) || !errors.Is(err, mx.ErrBadEndpointID) || !errors.Is(err, mx.ErrConnectionFailed) {
			w.Errorf("%v", err)
		}
		if lines := strings.Count(err.Error(), "\n") + 1; lines != 3 {
			w.Errorf("%d failures: %v", lines, err)
		}
		each, ok := errors.AsType[mx.ConnectAllError](err)
		if !ok || len(each) != len(names) {
			w.Fatalf("%T of %d", err, len(each))
		}
		for i, addr := range addrs {
			if fails := i > 0 && i < 4; addr.IsZero() != fails || (each[i] != nil) != fails {
				w.Errorf("address %d: %v, %v", i, addr, each[i])
			}
		}
	})
}

func TestConnectAllEndsWithItsContext(t *testing.T) {
	over(t, func(w *world) {
		a, mute := w.open(), w.open()
		names := w.names(mute)
		if err := mute.DisableProgression(); err != nil {
			w.Fatal(err)
		}
		for range 200 {
			names = append(names, names[0])
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		addrs, err := a.ConnectAll(ctx, names)
		if text := err.Error(); strings.Count(text, "\n") != 8 || !strings.HasSuffix(text, "\nand 193 more") {
			w.Errorf("of %d failures: %s", len(names), text)
		}
		if !errors.Is(err, context.DeadlineExceeded) || len(addrs) != len(names) || !addrs[0].IsZero() {
			w.Errorf("%v", err)
		}
		if list := a.Pending(); len(list) != 0 {
			w.Errorf("left: %v", list)
		}
		if err := mute.ReenableProgression(); err != nil {
			w.Fatal(err)
		}
		if _, err := a.ConnectAll(noContext, names); err != nil {
			w.Error(err)
		}
	})
}
