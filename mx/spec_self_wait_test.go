package mx_test

import (
	"testing"
	"time"

	"gomx/mx"
)

// A caller that is blocked in WaitAny hears of a message to oneself also where a handler is
// asked first, which makes it wait for the next pass.
func TestWaitAnyAndSelfBehindHandler(t *testing.T) {
	over(t, func(w *world) {
		ep := w.open()
		take := func(any, mx.EndpointAddr, uint64, uint32, []byte) mx.UnexpAction { return mx.RecvContinue }
		if err := ep.RegisterUnexpHandler(take, nil); err != nil {
			w.Fatal(err)
		}
		done := make(chan bool)
		go func() {
			_, ok, err := ep.WaitAny(bound, 9, exact)
			done <- ok && err == nil
		}()
		time.Sleep(20 * time.Millisecond) // so that it sleeps
		began := time.Now()
		if _, err := ep.Issend(nil, ep.Addr(), 9, nil); err != nil {
			w.Fatal(err)
		}
		if _, err := ep.Irecv(nil, 9, exact, nil); err != nil {
			w.Fatal(err)
		}
		select {
		case ok := <-done:
			if !ok {
				w.Error("nothing completed")
			}
		case <-time.After(bound / 2):
			w.Errorf("still blocked after %v", time.Since(began))
			<-done
		}
	})
}
