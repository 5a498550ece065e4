package driver_test

import (
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

// Links that come while nothing progresses are bounded, too, however busily somebody calls. Whoever is turned away
// dials again, and gets through later.
func TestStrangersAreBoundedWhileNothingProgresses(t *testing.T) {
	const bound, crowd = 4, 20
	for name, halt := range map[string]func(t *testing.T, w *world, d *driver.Endpoint) (goOn func()){
		"progression is off": func(t *testing.T, w *world, d *driver.Endpoint) func() {
			if err := d.Pause(true); err != nil {
				t.Fatal(err)
			}
			return func() { _ = d.Pause(false) }
		},
		"the handler blocks": func(t *testing.T, w *world, d *driver.Endpoint) func() {
			entered, leave := make(chan struct{}), make(chan struct{})
			_ = d.SetHandler(func(*endpoint.Incoming) endpoint.Action {
				close(entered)
				<-leave
				return endpoint.Finished
			})
			a := w.open(asleep)
			w.wait(a, w.send(a, w.connect(a, 0), 1, []byte{1}))
			inBackground(t, func() { <-entered })()
			return func() { close(leave) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mem.Options{})
			defer w.close()
			d := w.open(asleep, func(c *driver.Config) { c.Engine.Strangers = bound })
			goOn := halt(t, w, d)
			var connects []endpoint.Handle
			first := len(w.eps)
			for range crowd {
				h, err := w.open(asleep).Call(&endpoint.Calling{NIC: board, Endpoint: 0}, false)
				if err != nil {
					t.Fatal(err)
				}
				connects = append(connects, h)
			}
			turnedAway := func() (n uint64) {
				d.Query(func(e *endpoint.Engine) { n = e.Counters().Strangers })
				return n
			}
			var st endpoint.Status
			for begin := time.Now(); turnedAway() < crowd-bound && time.Since(begin) < patience; {
				_, _ = d.Probe(noContext, 5, 5, 0, &st) // it makes no pass, and keeps nobody from looking
			}
			if n := turnedAway(); n < crowd-bound {
				t.Errorf("%d of %d links were turned away", n, crowd)
			}
			goOn()
			for i, h := range connects {
				if st := w.wait(w.eps[first+i], h); st.Code != endpoint.Success {
					t.Error("later:", st.Code)
				}
			}
		})
	}
}
