package driver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gomx/endpoint"
	"gomx/transport/mem"
)

// After KeepProgress an endpoint hands a message to its handler though no call of the program waits, before the guard is due.
func TestKeepProgressTakesWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		a, b := w.open(asleep), w.open(asleep)
		to := w.connect(a, 1)
		var came int
		if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
			came++
			return endpoint.Finished
		}); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for i := range 3 {
			_, _, _ = b.Peek(noContext, 0) // a call, behind which the endpoint's own goroutine would rest
			b.KeepProgress()
			synctest.Wait()
			w.send(a, to, 1, nil)
			synctest.Wait()
			if came != i+1 {
				t.Errorf("%d messages came to the handler, want %d", came, i+1)
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("somebody waited for the clock, %v", took)
		}
	})
}
