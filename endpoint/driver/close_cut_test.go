package driver_test

import (
	"sync/atomic"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/mem"
)

// A close waits for a peer that does not move for some time: were the link cut meanwhile, what it carries would have to go again.
func TestCloseBesideACut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mem.Options{Heals: true})
	defer w.close()
	a, b := w.open(), w.open()
	toB := w.connect(a, 1)
	const messages = 100
	var came atomic.Int32
	moves, all := make(chan struct{}), make(chan struct{})
	if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
		<-moves
		if came.Add(1) == messages {
			close(all)
		}
		return endpoint.Finished
	}); err != nil {
		t.Fatal(err)
	}
	for range messages {
		w.send(a, toB, 1, []byte{1})
	}
	closed := inBackground(t, func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(200 * time.Millisecond)
	here, there := transport.Address{NIC: board}, transport.Address{NIC: board, Endpoint: 1}
	w.net.SetCut(here, there, true)
	w.net.SetCut(here, there, false)
	close(moves)
	select {
	case <-all:
	case <-time.After(patience):
		t.Errorf("%d of %d messages have come", came.Load(), messages)
	}
	closed()
}
