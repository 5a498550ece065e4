package driver_test

import (
	"errors"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// What a handler does in the pass with which a wait begins counts for that wait.
func TestHandlerInTheFirstPass(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(b *driver.Endpoint, h endpoint.Handle)
		fails bool // with a GoneError
	}{
		"wakes it up":         {func(b *driver.Endpoint, _ endpoint.Handle) { b.Wakeup() }, false},
		"forgets its request": {func(b *driver.Endpoint, h endpoint.Handle) { _ = b.Forget(h) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mem.Options{})
			defer w.close()
			a, b := w.open(), w.open()
			to := w.connect(a, 1)
			h, did := w.recv(b, 2, make([]byte, 1)), false
			if err := b.SetHandler(func(*endpoint.Incoming) endpoint.Action {
				if inACall() { // the endpoint's own goroutine may be quicker
					did = true
					c.do(b, h)
				}
				return endpoint.Finished
			}); err != nil {
				t.Fatal(err)
			}
			for !did {
				w.wait(a, w.send(a, to, 1, []byte{1}))
				late := time.AfterFunc(5*time.Second, b.Wakeup)
				var st endpoint.Status
				ok, err := b.Wait(noContext, h, driver.Infinite, &st)
				switch gone := (*driver.GoneError)(nil); {
				case !late.Stop():
					if did {
						t.Fatal("the wait goes on")
					}
				case ok, c.fails != errors.As(err, &gone), !c.fails && err != nil:
					t.Fatalf("the wait has ended with %v, %v", ok, err)
				}
			}
		})
	}
}
