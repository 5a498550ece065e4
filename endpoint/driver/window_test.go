package driver_test

import (
	"bytes"
	"errors"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

func window(w *world, d *driver.Endpoint, memory []byte) uint64 {
	w.t.Helper()
	id, err := d.OpenWindow(memory, endpoint.MayRead|endpoint.MayWrite, 0x1234)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// Neither program is inside the library while a large put and a large get are
// carried out: the background does it.
func TestAccessesGoOnInTheBackground(t *testing.T) {
	for _, o := range []mem.Options{{}, {NoPull: true}, {Pulls: mem.Pulls{Seed: 1, Delay: 20, Fail: 0.3}}} {
		both(t, func(t *testing.T, wait option) {
			w := newWorld(t, o)
			defer w.close()
			a, b := w.open(wait), w.open(wait)
			to := w.connect(a, 1)
			memory, data := make([]byte, 300_000), bytes.Repeat([]byte("gomx"), 50_000)
			id := window(w, b, memory)
			put, err := a.Put(wire.Vec{First: data}, to, id, 1000, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if st := w.wait(a, put); st.Code != endpoint.Success || int(st.XferLength) != len(data) {
				t.Fatalf("put: %+v", st)
			}
			back := make([]byte, len(data))
			get, err := a.Get(wire.Vec{First: back}, to, id, 1000, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if st := w.wait(a, get); st.Code != endpoint.Success || !bytes.Equal(back, data) {
				t.Fatalf("get: %+v", st)
			}
		})
	}
}

// A pull into a window can't be stopped: who closes the window waits for its end, in
// every way of waiting there is.
func TestCloseWindowWaitsForPulls(t *testing.T) {
	for name, options := range map[string][]option{"any thread": nil, "single": {singleThreaded}, "asleep": {asleep}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mem.Options{Pulls: mem.Pulls{Seed: 1, Delay: 300}})
			defer w.close()
			a, b := w.open(), w.open(options...)
			to := connectTo(w, a, b)
			early := uint64(0) // pulls that the endpoint's own goroutine has ended, while this one had no core
			for range 20 {
				memory := make([]byte, 100_000)
				id := window(w, b, memory)
				put, err := a.Put(wire.Vec{First: bytes.Repeat([]byte{7}, len(memory))}, to, id, 0, 0, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Progress(); err != nil {
					t.Fatal(err)
				}
				if err := b.CloseWindow(id); err != nil {
					t.Fatal(err)
				}
				clear(memory)
				var st endpoint.Status
				for done := false; !done; {
					if done, err = a.Wait(noContext, put, 0, &st); err != nil {
						t.Fatal(err)
					}
					if err := b.Progress(); err != nil {
						t.Fatal(err)
					}
				}
				for range 400 {
					_ = b.Progress()
				}
				if st.Code == endpoint.Success {
					early++
				} else if st.Code != endpoint.BadRDMAWindow {
					t.Fatal(st.Code)
				}
				if !bytes.Equal(memory, make([]byte, len(memory))) {
					t.Fatalf("%v, and memory was written after its window was closed: %v", st.Code, bytes.Contains(memory, []byte{7}))
				}
			}
			if n := b.Report().Counters.Withdrawn; n == 0 || n+early != 20 {
				t.Errorf("%d of 20 windows were closed under a pull, %d after it", n, early)
			}
		})
	}
}

// connectTo connects a to the endpoint b, which may need to be driven.
func connectTo(w *world, a, b *driver.Endpoint) endpoint.Addr {
	w.t.Helper()
	h, err := a.Call(&endpoint.Calling{NIC: board, Endpoint: 1}, false)
	if err != nil {
		w.t.Fatal(err)
	}
	var st endpoint.Status
	for done := false; !done; {
		_ = b.Progress()
		if done, err = a.Wait(noContext, h, 0, &st); err != nil {
			w.t.Fatal(err)
		}
	}
	if st.Code != endpoint.Success {
		w.t.Fatalf("connect: %v", st.Code)
	}
	return st.Source
}

func TestCloseWindow(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, b := w.open(), w.open()
	to := w.connect(a, 1)
	id := window(w, b, make([]byte, 10))
	if err := b.CloseWindow(id); err != nil {
		t.Error(err)
	}
	if err := b.CloseWindow(id); !errors.Is(err, driver.ErrNoWindow) {
		t.Errorf("closed twice: %v", err)
	}
	put, err := a.Put(wire.Vec{First: make([]byte, 1)}, to, id, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if st := w.wait(a, put); st.Code != endpoint.BadRDMAWindow {
		t.Errorf("put into a closed window: %v", st.Code)
	}
	again := window(w, b, make([]byte, 10))
	refused := make(chan error, 1)
	if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
		refused <- b.CloseWindow(again)
		return endpoint.Continue
	}); err != nil {
		t.Fatal(err)
	}
	w.send(a, to, 1, nil)
	if err := <-refused; !errors.Is(err, driver.ErrInHandler) {
		t.Errorf("closed in the handler: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.CloseWindow(again); !errors.Is(err, driver.ErrClosed) {
		t.Errorf("closed after the endpoint: %v", err)
	}
	if _, err := b.OpenWindow(nil, endpoint.MayRead, 1); !errors.Is(err, driver.ErrClosed) {
		t.Errorf("opened after the endpoint was closed: %v", err)
	}
}
