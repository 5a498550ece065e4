package driver_test

import (
	"errors"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
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
		if err := q.Add(d, h); err != nil {
			t.Error(err)
		}
		w.send(d, d.Self(), 1, nil)
	}
	nothing := func(int, *driver.Endpoint, endpoint.Handle, *endpoint.Status) {}
	if n, err := old.Wait(noContext, 0, 1, nothing); n != 0 || err != nil { // the next pass begins at the second
		t.Fatal(n, err)
	}
	message(holding, old)

	var young *driver.Queue
	closed := make(chan struct{})
	n, err := old.Wait(noContext, 0, 2, func(_ int, d *driver.Endpoint, _ endpoint.Handle, _ *endpoint.Status) {
		if d != holding {
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
	if n == 0 && !errors.Is(err, driver.ErrClosed) {
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
