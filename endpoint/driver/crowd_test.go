package driver_test

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// The polling role goes from one blocked caller to the next, whichever of them is
// served first.
func TestRoleIsHandedOver(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		const callers = 8
		for round := range 10 {
			var joins []func()
			for i := range callers {
				h := w.recv(b, uint64(i), make([]byte, 1))
				joins = append(joins, inBackground(t, func() { w.wait(b, h) }))
			}
			time.Sleep(time.Millisecond)
			for i := range callers {
				match := uint64((i*3 + round) % callers)
				w.wait(a, w.send(a, to, match, []byte{1}))
				joins[match]()
			}
		}
	})
}

// Many goroutines block in all kinds of calls on one endpoint while others send
// to it: everything arrives once, and nobody hangs.
func TestCrowdOnOneEndpoint(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		server := w.open(wait)
		const (
			clients = 3
			each    = 200
			workers = 4
		)
		var served atomic.Int64
		var joins []func()
		for range workers {
			joins = append(joins, inBackground(t, func() { serveAny(t, w, server, &served, clients*each) }))
		}
		for i := range clients {
			client := w.open(wait)
			to := w.connect(client, 0)
			joins = append(joins, inBackground(t, func() {
				for n := range each {
					w.wait(client, w.send(client, to, uint64(i)<<32|uint64(n), []byte("hi")))
				}
			}))
		}
		for _, join := range joins {
			join()
		}
		if served.Load() != clients*each {
			t.Errorf("%d messages of %d", served.Load(), clients*each)
		}
	})
}

// serveAny takes messages, found by Probe, until so many have been taken by all.
func serveAny(t *testing.T, w *world, d *driver.Endpoint, served *atomic.Int64, goal int64) {
	for served.Load() < goal {
		var st endpoint.Status
		ok, err := d.Probe(noContext, 0, 0, 10*time.Millisecond, &st)
		if err != nil {
			t.Error(err)
			return
		}
		if !ok {
			continue
		}
		h, err := d.Recv(&endpoint.Posting{First: make([]byte, 8), Value: st.Match, Mask: ^uint64(0)}, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if ok, err := d.Wait(noContext, h, 5*time.Millisecond, &st); err != nil {
			t.Error(err)
			return
		} else if ok {
			served.Add(1)
			continue
		}
		// Another worker has taken the message that both saw.
		cancelled, err := d.Cancel(h)
		if err != nil {
			t.Error(err)
			return
		}
		if !cancelled {
			w.wait(d, h)
			served.Add(1)
		}
	}
}

// Callers that hold the lock for moments only get it although a poller spins.
func TestSpinningPollerYields(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	d := w.open(spinning(time.Hour))
	h := w.recv(d, 1, make([]byte, 8))
	join := inBackground(t, func() { w.wait(d, h) })
	inBackground(t, func() {
		for i := range 2000 {
			r := w.recv(d, uint64(i)+100, nil)
			if ok, err := d.Cancel(r); !ok || err != nil {
				t.Errorf("cancel: %v %v", ok, err)
				return
			}
		}
	})()
	w.wait(d, w.send(d, d.Self(), 1, make([]byte, 8)))
	join()
}

// An endpoint in single-threaded mode does what others do.
func TestSingleThreaded(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, b := w.open(), w.open(singleThreaded)
	var to endpoint.Addr
	var connected atomic.Bool
	joinConnect := inBackground(t, func() { to = w.connect(a, 1); connected.Store(true) })
	for !connected.Load() {
		_ = b.Progress()
		runtime.Gosched()
	}
	joinConnect()
	got := make([]byte, 8)
	for i := range uint64(500) {
		var b8 [8]byte
		binary.LittleEndian.PutUint64(b8[:], i)
		h := w.recv(b, i, got)
		join := inBackground(t, func() { w.wait(a, w.send(a, to, i, b8[:])) })
		if st := w.wait(b, h); st.XferLength != 8 || binary.LittleEndian.Uint64(got) != i {
			t.Fatal(i, st, got)
		}
		join()
	}
	var st endpoint.Status
	if ok, err := b.Wait(noContext, w.recv(b, 1, nil), 5*time.Millisecond, &st); ok || err != nil {
		t.Error(ok, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// A peer's large messages are served though this side makes no call at all.
func TestBackgroundServesLargeSends(t *testing.T) {
	for name, o := range map[string]mem.Options{
		"pull": {}, "blocks": {NoPull: true}, "lossy": {Faults: mem.Faults{Seed: 1, Drop: 0.05}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, wait option) {
				if lossy := o.Faults != (mem.Faults{}); lossy && under(wait) {
					t.Skip("Close polls until the last ack is there, and synctest's clock stands still for it")
				}
				w := newWorld(t, o)
				defer w.close()
				a, b := w.open(wait), w.open(wait)
				to := w.connect(a, 1)
				buf := make([]byte, 1<<20)
				h := w.recv(b, 1, buf)
				sent := w.send(a, to, 1, make([]byte, 1<<20))
				if st := w.wait(a, sent); st.Code != endpoint.Success {
					t.Error(st.Code)
				}
				if st := w.wait(b, h); st.XferLength != 1<<20 {
					t.Error(st)
				}
			})
		})
	}
}
