package driver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gomx/transport/mem"
)

// The own goroutine of an endpoint that nobody calls, and at which nobody waits, looks whether something has come, and sleeps.
// A goroutine that serves many endpoints would else be kept from going round by all of theirs: a look may be a system call.
func TestOwnGoroutineLooksOnceForProgramsThatDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.Options{})
		defer w.close()
		medium := &wall{name: "counted"}
		d := w.open(spinning(0), among(medium))
		const times, most = 10, 8
		before := medium.polls.Load()
		for range times {
			_, _, _ = d.Peek(noContext, 0) // after a call its guard begins anew
			time.Sleep(time.Second)
			synctest.Wait()
		}
		switch looks := medium.polls.Load() - before; {
		case looks < 1:
			t.Error("nobody has looked")
		case looks > times*most:
			t.Errorf("%d looks after %d calls, want a few each", looks, times)
		}
	})
}
