package driver_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/transport/mem"
)

// A close that waits for a peer which takes nothing leaves the core to others meanwhile.
func TestCloseWaitsAsleep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mem.Options{Unreliable: true})
	defer w.close()
	var polled wall
	a, b := w.open(behind(&polled)), w.open()
	toB := w.connect(a, 1)
	over := make(chan struct{})
	defer close(over)
	if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
		<-over
		return endpoint.Finished
	}); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		w.send(a, toB, 1, []byte{1})
	}
	before := polled.polls.Load()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if polls := polled.polls.Load() - before; polls < 100 || polls > 20_000 { // about 1,000 asleep, some million else
		t.Errorf("the close has polled %d times", polls)
	}
}
