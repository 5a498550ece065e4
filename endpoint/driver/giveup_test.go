package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// waitsFor are the calls that wait for a certain request.
func waitsFor(d *driver.Endpoint, h endpoint.Handle) map[string]func() (bool, error) {
	return map[string]func() (bool, error){
		"wait": func() (bool, error) {
			return d.Wait(noContext, h, driver.Infinite, new(endpoint.Status))
		},
		"wait with a context": func() (bool, error) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			return d.Wait(ctx, h, driver.Infinite, new(endpoint.Status))
		},
		"wait for a set": func() (bool, error) {
			b := &driver.Batch{Len: 1, List: func(l []endpoint.Handle) { l[0] = h }, Taken: func([]int32, []endpoint.Status) {}}
			_, ok, err := d.WaitSet(noContext, b, driver.Infinite)
			return ok, err
		},
	}
}

// A caller whose request another goroutine takes away learns so at once, and why.
func TestWaiterOfARequestThatGoes(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		for way, takeAway := range map[string]func(h endpoint.Handle){
			"cancelled": func(h endpoint.Handle) { _, _ = d.Cancel(h) },
			"forgotten": func(h endpoint.Handle) { _ = d.Forget(h) },
		} {
			for name := range waitsFor(d, 0) {
				says := false // why, which it does if the call waits by then
				for after := 10 * time.Microsecond; !says && after < patience; after *= 8 {
					h := w.recv(d, 1, nil)
					time.AfterFunc(after, func() { takeAway(h) })
					inBackground(t, func() {
						ok, err := waitsFor(d, h)[name]()
						if ok || !errors.Is(err, endpoint.ErrBadRequest) {
							t.Errorf("%s, %s: %v %v", name, way, ok, err)
						}
						gone, is := errors.AsType[*driver.GoneError](err)
						says = after > time.Millisecond && is && gone.Request == h
					})()
				}
				if !says {
					t.Errorf("%s, %s: the error never says so", name, way)
				}
			}
		}
	})
}

// Of two callers that wait for one request one collects it, and the other does not wait on.
func TestSurplusWaiter(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		for i := range uint64(20) {
			h := w.recv(b, i, make([]byte, 1))
			var collected atomic.Int32
			var joins []func()
			for range 2 {
				joins = append(joins, inBackground(t, func() {
					ok, err := b.Wait(noContext, h, driver.Infinite, new(endpoint.Status))
					if ok {
						collected.Add(1)
					} else if !errors.Is(err, endpoint.ErrBadRequest) {
						t.Errorf("wait: %v", err)
					}
				}))
			}
			if i%2 == 0 {
				time.Sleep(time.Millisecond) // both wait by then, most likely
			}
			w.wait(a, w.send(a, to, i, []byte{1}))
			for _, join := range joins {
				join()
			}
			if n := collected.Load(); n != 1 {
				t.Errorf("collected %d times", n)
			}
		}
	})
}

// disturbed opens two endpoints, of which one gets small messages without a pause until stop is called. Each is received.
func disturbed(t *testing.T, options ...option) (w *world, d, peer *driver.Endpoint, to endpoint.Addr, stop func()) {
	w = newWorld(t, mem.Options{})
	d, peer = w.open(options...), w.open(options...)
	to = w.connect(peer, 0)
	var over atomic.Bool
	join := inBackground(t, func() {
		for !over.Load() {
			h := w.recv(d, 1, make([]byte, 8))
			w.wait(peer, w.send(peer, to, 1, make([]byte, 8)))
			w.wait(d, h)
		}
	})
	return w, d, peer, to, func() { over.Store(true); join() }
}

// However much arrives, a wait ends when its context or its time does, and requests that time out do.
func TestTimePassesUnderTraffic(t *testing.T) {
	w, d, _, _, stop := disturbed(t, spinning(time.Hour))
	defer w.close()
	defer stop()
	h := w.recv(d, 2, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	inBackground(t, func() {
		if _, err := d.Wait(ctx, h, driver.Infinite, new(endpoint.Status)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait with a context: %v", err)
		}
		if ok, err := d.Wait(noContext, h, 20*time.Millisecond, new(endpoint.Status)); ok || err != nil {
			t.Errorf("wait with a timeout: %v %v", ok, err)
		}
		w.open()
		sync, err := d.Send(&endpoint.Outgoing{To: w.connect(d, 2), Match: 3}, &endpoint.SendOptions{Level: endpoint.Matched}) // which nobody receives
		if err == nil {
			err = d.SetTimeout(sync, 20*time.Millisecond)
		}
		if err != nil {
			t.Error(err)
		} else if st := w.wait(d, sync); st.Code != endpoint.TimedOut {
			t.Errorf("a request whose time is over: %v", st.Code)
		}
	})()
}

// A call beside a handler that runs in the endpoint's own goroutine takes nothing from that: later messages are
// received though nobody calls.
func TestCallsBesideTheBackgroundsHandler(t *testing.T) {
	for name, call := range map[string]func(d *driver.Endpoint, h endpoint.Handle){
		"test":       func(d *driver.Endpoint, h endpoint.Handle) { _, _ = d.Test(h, new(endpoint.Status)) },
		"window use": func(d *driver.Endpoint, h endpoint.Handle) { _, _, _ = d.WindowUse(0) },
		"wait, 0":    func(d *driver.Endpoint, h endpoint.Handle) { _, _ = d.Wait(noContext, h, 0, new(endpoint.Status)) },
		"wait": func(d *driver.Endpoint, h endpoint.Handle) {
			_, _ = d.Wait(noContext, h, time.Millisecond, new(endpoint.Status))
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, wait option) {
				w := newWorld(t, mem.Options{})
				defer w.close()
				a, b := w.open(wait), w.open(wait)
				to := w.connect(a, 1)
				entered, leave := make(chan struct{}), make(chan struct{})
				_ = b.SetHandler(func(m *endpoint.Incoming) endpoint.Action {
					close(entered)
					<-leave
					return endpoint.Finished
				})
				h, large := w.recv(b, 9, nil), w.recv(b, 2, make([]byte, 1<<20))
				time.Sleep(30 * time.Millisecond) // of idleness, which brings the background in
				w.send(a, to, 1, []byte{1})
				inBackground(t, func() { <-entered })()
				call(b, h)
				close(leave)
				time.Sleep(30 * time.Millisecond)
				w.wait(a, w.send(a, to, 2, make([]byte, 1<<20))) // a rendezvous, which b serves
				w.wait(b, large)
			})
		})
	}
}

// A caller that is blocked when progression is switched off receives nothing until it is on again.
func TestPauseStopsWhoWaits(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b, c := w.open(wait), w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		h := w.recv(b, 1, make([]byte, 1))
		var got atomic.Bool
		join := inBackground(t, func() { w.wait(b, h); got.Store(true) })
		time.Sleep(2 * time.Millisecond)
		if err := b.Pause(true); err != nil {
			t.Fatal(err)
		}
		w.wait(a, w.send(a, to, 1, []byte{1}))
		connect, err := c.Call(&endpoint.Calling{NIC: board, Endpoint: 1}, false)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := c.Wait(noContext, connect, 20*time.Millisecond, new(endpoint.Status)); ok || err != nil || got.Load() {
			t.Errorf("connected: %v %v, received: %v, while progression is off", ok, err, got.Load())
		}
		ours, err := b.Call(&endpoint.Calling{NIC: board, Endpoint: 99}, false) // where nobody is
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		var st endpoint.Status
		if ok, err := b.Test(ours, &st); ok || err != nil {
			t.Errorf("a connect of its own ended: %v %v %v", st.Code, ok, err)
		}
		if err := b.Pause(false); err != nil {
			t.Fatal(err)
		}
		join()
		w.wait(c, connect)
		if st := w.wait(b, ours); st.Code != endpoint.EndpointClosed {
			t.Error(st.Code)
		}
	})
}

// A panic of the handler goes on to the caller who polls, and leaves the endpoint usable and the message there.
func TestHandlerPanics(t *testing.T) {
	const tries = 1000
	for name, call := range map[string]func(d *driver.Endpoint, h endpoint.Handle){
		"wait": func(d *driver.Endpoint, h endpoint.Handle) {
			_, _ = d.Wait(noContext, h, patience/tries, new(endpoint.Status))
		},
		"test":     func(d *driver.Endpoint, h endpoint.Handle) { _, _ = d.Test(h, new(endpoint.Status)) },
		"progress": func(d *driver.Endpoint, h endpoint.Handle) { _ = d.Progress() },
		"probe": func(d *driver.Endpoint, h endpoint.Handle) {
			_, _ = d.Probe(noContext, tries, exactly, patience/tries, new(endpoint.Status))
		},
		"counter": func(d *driver.Endpoint, h endpoint.Handle) {
			c, _ := d.NewCounter()
			defer c.Close()
			_, _, _ = c.Wait(noContext, 1, patience/tries)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mem.Options{})
			defer w.close()
			d := w.open(spinning(time.Hour))
			const none = tries
			at := uint64(none) // the message at which the handler has panicked
			_ = d.SetHandler(func(m *endpoint.Incoming) endpoint.Action {
				if at == none && inACall() {
					at = m.Match
					panic("the user's own")
				}
				return endpoint.Continue
			})
			h := w.recv(d, none, nil)
			var thrown any
			inBackground(t, func() {
				defer func() { thrown = recover() }()
				for i := range uint64(tries) { // of which the endpoint's own goroutine may take some
					sent, _ := d.Send(&endpoint.Outgoing{First: []byte{7}, To: d.Self(), Match: i}, nil)
					_ = d.Forget(sent)
					call(d, h)
				}
			})()
			if thrown != "the user's own" {
				t.Fatalf("caught %v", thrown)
			}
			if st := w.wait(d, w.recv(d, at, make([]byte, 1))); st.Code != endpoint.Success || st.XferLength != 1 {
				t.Errorf("afterwards: %+v", st)
			}
			d.Query(func(e *endpoint.Engine) {
				if n := e.Depths().Requests; n != 1 { // h
					t.Errorf("%d requests are left", n)
				}
			})
		})
	}
}

// A request that completes in the pass in which a handler panics is collected, and the next wait panics. What comes into the
// queue behind that is handed over as before.
func TestHandlerPanicsBesideACompletion(t *testing.T) {
	for range 20 {
		if panicsBesideACompletion(t) {
			return
		}
	}
	t.Error("the endpoint's own goroutine calls the handler each time")
}

// panicsBesideACompletion returns false if the endpoint's own goroutine, in which a panic would end the process, calls the handler.
func panicsBesideACompletion(t *testing.T) (panicked bool) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	d := w.open(spinning(time.Hour))
	q, err := driver.NewQueue(d)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	queued, h := w.recv(d, 1, nil), w.recv(d, 2, make([]byte, 1))
	if err := addTo(q, d, queued); err != nil {
		t.Fatal(err)
	}
	first, handed := true, make(chan int, 10)
	err = q.Handle(1, noCompletion, func(n int) {
		if !first {
			handed <- n
			return
		}
		first, panicked = false, inACall()
		sent, _ := d.Send(&endpoint.Outgoing{First: []byte{7}, To: d.Self(), Match: 2}, nil) // completes what is waited for
		_ = d.Forget(sent)
		if panicked {
			panic("the user's own")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	wait := func() (thrown any, ok bool, st endpoint.Status, err error) {
		defer func() { thrown = recover() }()
		ok, err = d.Wait(noContext, h, patience, &st)
		return nil, ok, st, err
	}
	inBackground(t, func() {
		sent, _ := d.Send(&endpoint.Outgoing{To: d.Self(), Match: 1}, nil)
		_ = d.Forget(sent)
		thrown, ok, st, err := wait()
		if !panicked {
			return
		}
		if thrown == nil { // it was put off
			if !ok || err != nil || st.XferLength != 1 {
				t.Errorf("collected: %v, %+v, %v", ok, st, err)
			}
			h = w.recv(d, 3, nil)
			thrown, _, _, _ = wait()
		} else if _, ok, st, err = wait(); !ok || err != nil || st.XferLength != 1 {
			t.Errorf("collected behind the panic: %v, %+v, %v", ok, st, err)
		}
		if thrown != "the user's own" {
			t.Errorf("caught %v", thrown)
		}
		if err := addTo(q, d, w.recv(d, 4, nil)); err != nil {
			t.Error(err)
		}
		w.wait(d, w.send(d, d.Self(), 4, nil))
		select {
		case <-handed:
		case <-time.After(patience):
			t.Error("the handler is not called again")
		}
		for range 1000 {
			_ = d.Progress()
		}
		if n := len(handed); n != 0 {
			t.Errorf("%d further calls of the handler", n)
		}
	})()
	return panicked
}

// A panic that was put off until Close goes up from that, and from nothing else.
func TestHandlerPanicGoesUpOnce(t *testing.T) {
	for range 50 {
		d := newWorld(t, mem.Options{}).open(spinning(time.Hour))
		q, err := driver.NewQueue(d)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t}
		queued, h := w.recv(d, 1, nil), w.recv(d, 2, make([]byte, 1))
		if err := addTo(q, d, queued); err != nil {
			t.Fatal(err)
		}
		called := false
		if err = q.Handle(1, noCompletion, func(int) {
			sent, _ := d.Send(&endpoint.Outgoing{First: []byte{7}, To: d.Self(), Match: 2}, nil) // completes what is waited for
			_ = d.Forget(sent)
			if called = true; inACall() {
				panic("the user's own")
			}
		}); err != nil {
			t.Fatal(err)
		}
		thrown := func(f func()) (v any) {
			defer func() { v = recover() }()
			f()
			return nil
		}
		var early, atClose, later any
		inBackground(t, func() {
			early = thrown(func() {
				sent, _ := d.Send(&endpoint.Outgoing{To: d.Self(), Match: 1}, nil)
				_ = d.Forget(sent)
				_, _ = d.Wait(noContext, h, patience, new(endpoint.Status))
			})
			atClose = thrown(func() { _ = d.Close() })
			later = thrown(func() { _, _ = d.Wait(noContext, h, patience, new(endpoint.Status)) })
		})()
		if later != nil || early != nil && atClose != nil {
			t.Fatalf("from the wait: %v, from Close: %v, afterwards: %v", early, atClose, later)
		}
		if called && atClose != nil {
			return
		}
	}
	t.Error("the panic was never put off")
}

// While several calls wait, the endpoint's own goroutine polls for them, and the panic goes up from one of these. The others wait on.
func TestHandlerPanicsBesideWaits(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		own := false
		if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
			own = !inACall()
			return panickingHandler()
		}); err != nil {
			t.Fatal(err)
		}
		const callers = 3
		thrown := make(chan any, callers)
		join := inBackground(t, func() {
			var all sync.WaitGroup
			for i := range uint64(callers) {
				h := w.recv(b, 100+i, nil)
				all.Go(func() {
					defer func() { thrown <- recover() }()
					_, _ = b.Wait(noContext, h, patience, new(endpoint.Status))
				})
			}
			all.Wait()
		})
		time.Sleep(20 * time.Millisecond) // all wait
		w.wait(a, w.send(a, to, 1, []byte{1}))
		if got := <-thrown; got != "the user's own" {
			t.Errorf("the first call has ended with %v", got)
		}
		b.Wakeup()
		for range callers - 1 {
			if got := <-thrown; got != nil {
				t.Errorf("another call has panicked with %v", got)
			}
		}
		join()
		t.Logf("in the endpoint's own goroutine: %v", own)
	})
}

// In the endpoint's own goroutine, while no call waits, the panic ends the process, with its own words and stack.
func TestHandlerPanicsInTheBackground(t *testing.T) {
	if os.Getenv("GOMX_TEST_PANIC") != "" {
		w := newWorld(t, mem.Options{})
		a, b := w.open(), w.open()
		to := w.connect(a, 1)
		_ = b.SetHandler(func(*endpoint.Incoming) endpoint.Action { return panickingHandler() })
		time.Sleep(30 * time.Millisecond)
		w.send(a, to, 1, []byte{1})
		time.Sleep(patience)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHandlerPanicsInTheBackground$")
	cmd.Env = append(os.Environ(), "GOMX_TEST_PANIC=1")
	out, err := cmd.CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "panic: the user's own") || !strings.Contains(text, "panickingHandler") ||
		strings.Contains(text, "fatal error") {
		t.Errorf("%v: %s", err, text)
	}
}

//go:noinline
func panickingHandler() endpoint.Action { panic(fmt.Sprint("the user's ", "own")) }

// Calls that make no pass, and calls that fail, keep nobody from making progress.
func TestBusyCallerDoesNotStarveProgress(t *testing.T) {
	for name, call := range map[string]func(d *driver.Endpoint, h endpoint.Handle){
		"irecv and cancel": func(d *driver.Endpoint, _ endpoint.Handle) {
			r, _ := d.Recv(&endpoint.Posting{Value: 77, Mask: ^uint64(0)}, nil)
			_, _ = d.Cancel(r)
		},
		"test": func(d *driver.Endpoint, h endpoint.Handle) { _, _ = d.Test(h, new(endpoint.Status)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mem.Options{})
			defer w.close()
			a, b := w.open(), w.open()
			to := w.connect(a, 1)
			h := w.recv(b, 99, nil)
			var over atomic.Bool
			join := inBackground(t, func() {
				for !over.Load() {
					call(b, h)
				}
			})
			var larges []endpoint.Handle
			for i := range uint64(20) {
				larges = append(larges, w.recv(b, 100+i, make([]byte, 1<<20)))
				_, _ = b.Test(h, new(endpoint.Status))               // which takes the role from the endpoint's own goroutine
				w.wait(a, w.send(a, to, 100+i, make([]byte, 1<<20))) // a rendezvous, which b serves
			}
			over.Store(true)
			join()
			for _, h := range larges { // not before: who waits makes progress
				w.wait(b, h)
			}
		})
	}
}
