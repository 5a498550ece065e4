package mx_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
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

// TestConnectAllFailsAsConnectDoes closes the endpoint, wakes it up or ends the context during the call: the errors are those of ConnectContext, and no
// handler is called. The first peers wait for their answer, and the last ones have not been asked yet.
func TestConnectAllFailsAsConnectDoes(t *testing.T) {
	over(t, func(w *world) {
		mute := w.open()
		if err := mute.DisableProgression(); err != nil {
			w.Fatal(err)
		}
		var names []mx.PeerName
		for range 100 {
			names = append(names, w.names(mute)...)
		}
		for _, c := range []struct {
			how  string
			does func(a *mx.Endpoint, cancel func())
			want []error
			not  error
			text string
		}{
			{"close", func(a *mx.Endpoint, _ func()) { a.Close() }, []error{mx.ErrBadEndpoint}, mx.ErrTimeout, ""},
			{"context", func(_ *mx.Endpoint, cancel func()) { cancel() }, []error{context.Canceled, mx.ErrTimeout}, mx.ErrBadEndpoint, "timed out"},
			{"wakeup", func(a *mx.Endpoint, _ func()) { a.Wakeup() }, []error{mx.ErrTimeout}, mx.ErrBadEndpoint, ""},
		} {
			for _, call := range []string{"ConnectAll", "ConnectContext"} {
				var calls atomic.Int32
				a := w.open(mx.WithErrorHandler(func(e *mx.Error) error { calls.Add(1); return e }))
				calls.Store(0) // of opening an id that another program had
				ctx, cancel := context.WithCancel(context.Background())
				ended := make(chan error, 1)
				go func() {
					if call == "ConnectAll" {
						_, err := a.ConnectAll(ctx, names)
						ended <- err
						return
					}
					_, err := a.ConnectContext(ctx, names[0].NIC, names[0].Endpoint, names[0].Filter)
					ended <- mx.ConnectAllError{err}
				}()
				w.until("it is under way", func() bool { return len(a.Pending()) > 0 }, a)
				c.does(a, cancel)
				var err error
				w.until("the call ends", func() bool {
					select {
					case err = <-ended:
						return true
					default:
						if c.how == "wakeup" {
							a.Wakeup() // again, if the call did not wait yet
						}
						return false
					}
				})
				each, ok := errors.AsType[mx.ConnectAllError](err)
				cancel()
				if !ok || call == "ConnectAll" && (len(each) != len(names) || calls.Load() != 0) {
					w.Fatalf("%s, %s: %v; the handler was called %d times", call, c.how, each, calls.Load())
				}
				for _, err := range each {
					for _, want := range c.want {
						if !errors.Is(err, want) {
							w.Fatalf("%s, %s: %v is not %v", call, c.how, err, want)
						}
					}
					if errors.Is(err, c.not) || c.text != "" && strings.Contains(err.Error(), c.text) {
						w.Fatalf("%s, %s: %v", call, c.how, err)
					}
				}
			}
		}
	})
}

// TestConnectWithoutTime: of a peer that had no time to answer, nothing is said that may not be so.
func TestConnectWithoutTime(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open()
		nic, id := place(w, b)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		look := func(call string, err error) {
			w.Helper()
			if err != nil && (!errors.Is(err, mx.ErrTimeout) || strings.Contains(err.Error(), "stopped")) { // nil: it was there at once
				w.Errorf("%s: %v", call, err)
			}
		}
		for _, connected := range []bool{false, true} {
			if connected {
				w.connect(a, b)
			}
			_, err := a.ConnectContext(ended, nic, id, testFilter)
			look("ConnectContext", err)
			_, err = a.Connect(nic, id, testFilter, 0)
			look("Connect", err)
			_, _, err = a.ConnectWith(ended, w.names(b)[0], nil)
			look("ConnectWith", err)
			_, err = a.ConnectAll(ended, w.names(b))
			look("ConnectAll", err)
		}
	})
}

// TestConnectUnderReview: whatever ends a connect that the program at the peer has not answered, the error says so.
func TestConnectUnderReview(t *testing.T) {
	over(t, func(w *world) {
		a, b := w.open(), w.open(mx.Passive())
		nic, id := place(w, b)
		name := w.names(b)[0]
		for call, connect := range map[string]func(ctx context.Context) error{
			"Connect": func(context.Context) error {
				_, err := a.Connect(nic, id, testFilter, 200*time.Millisecond)
				return err
			},
			"ConnectContext": func(ctx context.Context) error { _, err := a.ConnectContext(ctx, nic, id, testFilter); return err },
			"ConnectWith":    func(ctx context.Context) error { _, _, err := a.ConnectWith(ctx, name, nil); return err },
			"ConnectAll":     func(ctx context.Context) error { _, err := a.ConnectAll(ctx, []mx.PeerName{name}); return err },
		} {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			if err := connect(ctx); !errors.Is(err, mx.ErrTimeout) || !strings.Contains(err.Error(), "has not accepted or rejected it") {
				w.Errorf("%s: %v", call, err)
			}
			cancel()
		}
		defer time.AfterFunc(50*time.Millisecond, a.Wakeup).Stop()
		if _, err := a.Connect(nic, id, testFilter, 20*time.Second); !errors.Is(err, mx.ErrTimeout) || !strings.HasSuffix(err.Error(), "timed out: woken up") {
			w.Errorf("Connect that was woken up: %v", err)
		}
	})
}
