package driver_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/testlength"
	"gomx/transport/mem"
)

// crowd blocks several goroutines in every kind of call. The returned function
// waits until all have come back, and gives what they returned.
func crowd(t *testing.T, w *world, d *driver.Endpoint, each int) (join func() []error) {
	var mu sync.Mutex
	var got []error
	var joins []func()
	for i := range each {
		h := w.recv(d, 0xdead<<16+uint64(i), nil)
		for _, call := range blockingCalls(d, h) {
			joins = append(joins, inBackground(t, func() {
				_, err := call(noContext, driver.Infinite)
				mu.Lock()
				defer mu.Unlock()
				got = append(got, err)
			}))
		}
	}
	return func() []error {
		t.Helper()
		for _, join := range joins {
			join()
		}
		return got
	}
}

func TestCloseWhileOthersBlock(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		join := crowd(t, w, d, 4)
		time.Sleep(5 * time.Millisecond)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		for _, err := range join() {
			if !errors.Is(err, driver.ErrClosed) {
				t.Errorf("a blocked call returned %v", err)
			}
		}
		if err := d.Close(); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
	})
}

// Close polls, and nobody else does meanwhile: a handler is never called while another call of it runs.
func TestCloseWhileAnotherPolls(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for range 30 {
		w := newWorld(t, mem.Options{Faults: mem.Faults{Seed: 1, Drop: 0.05}}) // so that Close waits for acknowledgements
		a, b := w.open(spinning(time.Hour)), w.open(spinning(time.Hour))
		toB := w.connect(a, 1)
		toA := w.connect(b, 0)
		var inside atomic.Int32
		if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
			if inside.Add(1) > 1 {
				t.Error("two calls of the handler at the same time")
			}
			time.Sleep(50 * time.Microsecond)
			inside.Add(-1)
			return endpoint.Finished
		}); err != nil {
			t.Fatal(err)
		}
		b.TakeTurns(2) // it offers its core after each poll
		h := w.recv(b, 1<<32, nil)
		join := inBackground(t, func() {
			var st endpoint.Status
			if _, err := b.Wait(noContext, h, driver.Infinite, &st); !errors.Is(err, driver.ErrClosed) {
				t.Errorf("the wait of a closed endpoint ends with %v", err)
			}
		})
		var over atomic.Bool
		sender := inBackground(t, func() {
			for i := uint64(0); !over.Load() && i < 5000; i++ {
				a.SendNow([]byte{1}, toB, i)
			}
		})
		time.Sleep(200 * time.Microsecond)
		for i := range uint64(20) {
			b.SendNow([]byte{1}, toA, i)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		over.Store(true)
		sender()
		join()
		w.close()
	}
}

func TestWakeupEndsEveryBlockedCall(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		for range 20 {
			join := crowd(t, w, d, 2)
			ended := make(chan struct{})
			// A wake-up is for the calls of the moment: those that begin later
			// need another one.
			joinWaker := inBackground(t, func() {
				for {
					select {
					case <-ended:
						return
					default:
						d.Wakeup()
						time.Sleep(100 * time.Microsecond)
					}
				}
			})
			for _, err := range join() {
				if err != nil {
					t.Errorf("a woken call returned %v", err)
				}
			}
			close(ended)
			joinWaker()
		}
	})
}

// After Close every call says so, and none blocks.
func TestCallsOnAClosedEndpoint(t *testing.T) {
	w := newWorld(t, mem.Options{})
	d := w.open()
	h := w.recv(d, 1, nil)
	self := d.Self()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range blockingCalls(d, h) {
		if ok, err := call(noContext, driver.Infinite); ok || !errors.Is(err, driver.ErrClosed) {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
	_, sendErr := d.Send(&endpoint.Outgoing{To: self, Match: 0}, nil)
	_, recvErr := d.Recv(&endpoint.Posting{Value: 0, Mask: 0}, nil)
	_, connectErr := d.Call(&endpoint.Calling{NIC: board, Endpoint: 1}, false)
	_, testErr := d.Test(h, new(endpoint.Status))
	_, armErr := d.Arm()
	for name, err := range map[string]error{
		"send": sendErr, "recv": recvErr, "connect": connectErr, "test": testErr, "arm": armErr,
		"progress": d.Progress(), "pause": d.Pause(true), "forget": d.Forget(h),
		"disconnect": d.Disconnect(self), "timeout": d.SetTimeout(h, 1),
	} {
		if !errors.Is(err, driver.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.Wakeup()
	_ = d.Report()
}

// A peer that closes tells others, whose requests to it then end.
func TestPeerCloses(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		h := w.send(a, to, 7, make([]byte, 1<<20))
		var st endpoint.Status
		join := inBackground(t, func() { st = w.wait(a, h) })
		time.Sleep(5 * time.Millisecond)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		join()
		if st.Code != endpoint.EndpointClosed {
			t.Errorf("large send to a peer that closed: %v", st.Code)
		}
	})
}

// Close flushes what was reported complete.
func TestCloseDeliversCompletedSends(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(wait), w.open(wait)
		to := w.connect(a, 1)
		const n = 50
		for i := range n {
			if st := w.wait(a, w.send(a, to, uint64(i), []byte{byte(i)})); st.Code != endpoint.Success {
				t.Fatal(i, st.Code)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			got := make([]byte, 1)
			if st := w.wait(b, w.recv(b, uint64(i), got)); st.Code != endpoint.Success || got[0] != byte(i) {
				t.Fatal(i, st.Code, got)
			}
		}
	})
}

// A peer whose link is full when the endpoint closes gets the goodbye when it has made room.
func TestCloseSaysGoodbyeOverAFullLink(t *testing.T) {
	w := newWorld(t, mem.Options{Depth: 8})
	defer w.close()
	a, b := w.open(), w.open()
	toB, toA := w.connect(a, 1), w.connect(b, 0)
	watch, err := b.Watch(toA, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Pause(true); err != nil {
		t.Fatal(err)
	}
	for a.SendNow([]byte{1}, toB, 0) {
	}
	join := inBackground(t, func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(5 * time.Millisecond)
	if err := b.Pause(false); err != nil {
		t.Fatal(err)
	}
	if st := w.wait(b, watch); st.Code != endpoint.EndpointClosed {
		t.Errorf("a peer that closed: %v", st.Code)
	}
	join()
}
