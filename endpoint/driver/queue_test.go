package driver_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport"
	"gomx/transport/mem"
)

// A pass over two endpoints is held up at one of them while the queue is closed at the other, and another queue is opened
// there. The pass takes nothing from that one, though it may bear the number of the first.
func TestClosedQueueTakesNothingFromTheNext(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	closing, holding := w.open(), w.open()
	closing.Share()
	holding.Share()
	old, err := driver.NewQueue(closing, holding)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	message := func(d *driver.Endpoint, q *driver.Queue) {
		h := w.recv(d, 1, nil)
		if err := addTo(q, d, h); err != nil {
			t.Error(err)
		}
		w.send(d, d.Self(), 1, nil)
	}
	nothing := func(int, int, endpoint.Handle, []byte, *endpoint.Status) {}
	if n, err := old.Wait(noContext, 0, 1, nothing); n != 0 || err != nil { // the next pass begins at the second
		t.Fatal(n, err)
	}
	message(holding, old)

	var young *driver.Queue
	closed := make(chan struct{})
	n, err := old.Wait(noContext, 0, 2, func(_, over int, _ endpoint.Handle, _ []byte, _ *endpoint.Status) {
		if over != 1 {
			t.Error("the closed queue took a completion of the next one")
			return
		}
		go func() { defer close(closed); old.Close() }()
		time.Sleep(100 * time.Millisecond) // it comes as far as the endpoint that is held up here
		if young, err = driver.NewQueue(closing); err != nil {
			t.Error(err)
			return
		}
		message(closing, young)
	})
	if n == 0 && !errors.Is(err, driver.ErrQueueClosed) {
		t.Errorf("%d completions, error %v", n, err)
	}
	<-closed
	if young == nil {
		t.Fatal("no completion of the held endpoint was taken")
	}
	defer young.Close()
	if n, err := young.Wait(noContext, patience, 1, nothing); n != 1 || err != nil {
		t.Errorf("the next queue has %d completions, error %v", n, err)
	}
}

// interruption is what the handler of an endpoint does, once, in a pass of a call, if the background is not quicker.
type interruption struct {
	pass   func()
	passes int // in which it has done it
}

// interrupt gives an endpoint such a handler.
func (w *world) interrupt(d *driver.Endpoint) *interruption {
	w.t.Helper()
	in := &interruption{}
	err := d.SetHandler(func(*endpoint.Incoming) endpoint.Action {
		if !inACall() {
			return endpoint.Finished
		}
		if pass := in.pass; pass != nil {
			in.pass = nil
			in.passes++
			pass()
		}
		return endpoint.Finished
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

// What is closed while a pass of its own call runs the handler has nothing from then on, though another queue or counter has its number.
func TestClosedDuringItsPass(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, d, other := w.open(), w.open(), w.open()
	to := w.connect(a, 1)
	in := w.interrupt(d)
	during := func(call, then func()) {
		in.pass = then
		w.send(a, to, 9, []byte{1})
		call()
		in.pass = nil
	}
	complete := func() endpoint.Handle {
		h := w.recv(d, 1, nil)
		w.send(d, d.Self(), 1, nil)
		return h
	}
	for in.passes < 3 { // the background may be quicker
		c, err := d.NewCounter()
		if err != nil {
			t.Fatal(err)
		}
		during(func() {
			before := in.passes
			if n, _, err := c.Value(); in.passes > before && (n != 0 || !errors.Is(err, driver.ErrQueueClosed)) {
				t.Errorf("value of a closed counter: %d, %v", n, err)
			}
		}, func() {
			c.Close()
			next, err := d.NewCounter()
			if err != nil {
				t.Error(err)
				return
			}
			h := complete()
			if err := next.Add(1, func(int) endpoint.Handle { return h }); err != nil {
				t.Error(err)
			}
		})
	}
	for in.passes < 6 {
		q, err := driver.NewQueue(d, other)
		if err != nil {
			t.Fatal(err)
		}
		during(func() {
			before := in.passes
			n, err := q.Wait(noContext, 0, 1, noCompletion)
			if in.passes > before && (n != 0 || !errors.Is(err, driver.ErrQueueClosed)) {
				t.Errorf("wait on a closed queue: %d completions, %v", n, err)
			}
		}, func() {
			q.Close()
			next, err := driver.NewQueue(d)
			if err != nil {
				t.Error(err)
				return
			}
			if err := addTo(next, d, complete()); err != nil {
				t.Error(err)
			}
		})
		q.Close()
	}
}

// A queue that is closed, and whose number another one has, while Arm makes its pass is not armed.
func TestClosedWhileItIsArmed(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, d := w.open(), w.open()
	to := w.connect(a, 1)
	in := w.interrupt(d)
	for in.passes < 3 { // the background may be quicker
		q, err := driver.NewQueue(d)
		if err != nil {
			t.Fatal(err)
		}
		before := in.passes
		in.pass = func() {
			q.Close()
			if _, err := driver.NewQueue(d); err != nil {
				t.Error(err)
			}
		}
		w.send(a, to, 9, []byte{1})
		armed, err := q.Arm()
		if in.passes > before && (armed || !errors.Is(err, driver.ErrQueueClosed)) {
			t.Errorf("armed %v, %v", armed, err)
		}
		in.pass = nil
		q.Close()
	}
}

// Closing a queue ends the waits of that queue, and no others.
func TestClosingAQueueWakesNobodyElse(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	d, other := w.open(), w.open()
	h := w.recv(d, 1, nil)
	one, err := driver.NewQueue(d)
	if err != nil {
		t.Fatal(err)
	}
	two, err := driver.NewQueue(d, other)
	if err != nil {
		t.Fatal(err)
	}
	mine := w.recv(d, 2, nil)
	if err := addTo(one, d, mine); err != nil {
		t.Fatal(err)
	}
	yours := w.recv(d, 3, nil)
	if err := addTo(two, d, yours); err != nil {
		t.Fatal(err)
	}
	results := make(chan string, 3)
	say := func(what string, ok bool, err error) {
		if ok && err == nil {
			what = ""
		} else {
			what = fmt.Sprint(what, ": ", ok, " ", err)
		}
		results <- what
	}
	go func() {
		var st endpoint.Status
		ok, err := d.Wait(noContext, h, driver.Infinite, &st)
		say("wait", ok, err)
	}()
	go func() {
		n, err := one.Wait(noContext, driver.Infinite, 1, noCompletion)
		say("a queue", n == 1, err)
	}()
	go func() {
		n, err := two.Wait(noContext, driver.Infinite, 1, noCompletion)
		say("a queue over two", n == 1, err)
	}()
	for range 50 {
		for _, over := range [][]*driver.Endpoint{{d}, {d, other}} {
			q, err := driver.NewQueue(over...)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := q.Wait(noContext, driver.Infinite, 1, noCompletion)
				ended <- err
			}()
			for range 100 {
				runtime.Gosched()
			}
			q.Close()
			if err := <-ended; !errors.Is(err, driver.ErrQueueClosed) {
				t.Fatal(err)
			}
		}
	}
	for match := range uint64(3) {
		w.send(d, d.Self(), match+1, nil)
	}
	for range 3 {
		if wrong := <-results; wrong != "" {
			t.Error(wrong)
		}
	}
}

func noCompletion(int, int, endpoint.Handle, []byte, *endpoint.Status) {}

// What is left of a queue is armed when one of its endpoints is closed, and wakes as before.
func TestArmGoesOnWithTheOpenEndpoints(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, b := w.open(), w.open()
	q, err := driver.NewQueue(a, b)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if armed, err := q.Arm(); !armed || err != nil {
		t.Errorf("one endpoint is open: %v, %v", armed, err)
	}
	if err := addTo(q, b, w.recv(b, 1, nil)); err != nil {
		t.Fatal(err)
	}
	w.send(b, b.Self(), 1, nil)
	if armed, err := q.Arm(); armed || err != nil {
		t.Errorf("there is something to collect: %v, %v", armed, err)
	}
	if n, err := q.Wait(noContext, patience, 1, noCompletion); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := q.FDs(); !errors.Is(err, transport.ErrUnsupported) {
		t.Errorf("the doorbell of the open endpoint has no descriptor: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if armed, err := q.Arm(); armed || !errors.Is(err, driver.ErrClosed) {
		t.Errorf("all are closed: %v, %v", armed, err)
	}
	if fds, err := q.FDs(); len(fds) > 0 || !errors.Is(err, driver.ErrClosed) {
		t.Errorf("all are closed: %v, %v", fds, err)
	}
}

func TestClosedQueueSaysSo(t *testing.T) {
	for n := 1; n <= 2; n++ {
		w := newWorld(t, mem.Options{})
		eps := []*driver.Endpoint{w.open(), w.open()}[:n]
		q, err := driver.NewQueue(eps...)
		if err != nil {
			t.Fatal(err)
		}
		q.Close()
		calls := map[string]func() error{
			"Add":  func() error { return addTo(q, eps[0], w.recv(eps[0], 1, nil)) },
			"Wait": func() error { _, err := q.Wait(noContext, patience, 1, noCompletion); return err },
			"Arm":  func() error { _, err := q.Arm(); return err },
			"FDs":  func() error { _, err := q.FDs(); return err },
		}
		if n == 1 {
			calls["Handle"] = func() error { return q.Handle(1, noCompletion, func(int) {}) }
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, driver.ErrQueueClosed) {
				t.Errorf("%d endpoints: %s: %v", n, name, err)
			}
		}
		w.close()
	}
}

// Whoever waits while the queue is closed, one endpoint after the other, is told.
func TestCloseOfAQueueEndsItsWaits(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	var over []*driver.Endpoint
	for range 16 {
		over = append(over, w.open())
	}
	for round := range 200 {
		q, err := driver.NewQueue(over...)
		if err != nil {
			t.Fatal(err)
		}
		waits := make([]func(), 4)
		for i := range waits {
			waits[i] = inBackground(t, func() {
				if n, err := q.Wait(noContext, patience, 1, noCompletion); n != 0 || !errors.Is(err, driver.ErrQueueClosed) {
					t.Errorf("round %d: %d, %v", round, n, err)
				}
			})
		}
		for range round % 20 { // some rounds find them parked
			runtime.Gosched()
		}
		q.Close()
		for _, join := range waits {
			join()
		}
	}
}

func TestHandleRefuses(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, b := w.open(), w.open()
	for want, over := range map[error][]*driver.Endpoint{driver.ErrSeveral: {a, b}, driver.ErrHandled: {a}} {
		q, err := driver.NewQueue(over...)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		first, second := q.Handle(1, noCompletion, func(int) {}), q.Handle(1, noCompletion, func(int) {})
		if len(over) == 1 && first != nil || !errors.Is(second, want) {
			t.Errorf("over %d endpoints: %v, %v", len(over), first, second)
		}
	}
}

// A queue that has a handler has no use for those who wait, whether they come before it or behind it.
func TestHandleEndsWaits(t *testing.T) {
	both(t, func(t *testing.T, wait option) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		d := w.open(wait)
		q, err := driver.NewQueue(d)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var joins []func()
		for i, ctx := range []context.Context{noContext, ctx, noContext} {
			joins = append(joins, inBackground(t, func() {
				if n, err := q.Wait(ctx, driver.Infinite, 1, noCompletion); n != 0 || !errors.Is(err, driver.ErrHandled) {
					t.Errorf("wait %d: %d, %v", i, n, err)
				}
			}))
		}
		if under(wait) {
			synctest.Wait()
		} else {
			runtime.Gosched() // some are there, some come behind it
		}
		got := make(chan int, 1)
		if err := q.Handle(1, noCompletion, func(n int) { got <- n }); err != nil {
			t.Fatal(err)
		}
		for _, join := range joins {
			join()
		}
		if n, err := q.Wait(noContext, 0, 1, noCompletion); n != 0 || !errors.Is(err, driver.ErrHandled) {
			t.Errorf("a wait behind the handler: %d, %v", n, err)
		}
		if err := addTo(q, d, w.recv(d, 1, nil)); err != nil {
			t.Fatal(err)
		}
		w.send(d, d.Self(), 1, nil)
		if n := <-got; n != 1 {
			t.Errorf("the handler got %d completions", n)
		}
	})
}

// addTo adds one request to a queue.
func addTo(q *driver.Queue, d *driver.Endpoint, h endpoint.Handle) error {
	return q.Add(1, func(int) (*driver.Endpoint, endpoint.Handle) { return d, h })
}
