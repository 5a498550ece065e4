package driver

import (
	"context"
	"runtime/trace"

	"gomx/endpoint"
)

// RecordTo records messages and waits in r, and stops recording if r is nil. When it returns, the former recorder is not used any
// more. It also works on a closed endpoint.
func (d *Endpoint) RecordTo(r *endpoint.Recorder) {
	d.lockForeign()
	d.eng.RecordTo(r)
	d.unlock()
}

// Record adds an event of a layer above. Only goroutines that may make requests call it. Without a recorder it does nothing.
func (d *Endpoint) Record(ev endpoint.Event) {
	d.lock()
	d.eng.Record(ev)
	d.unlock()
}

// beginsWaiting and endsWaiting enclose each wait that takes more than a few polls. The goroutine that waits calls both.
func (d *Endpoint) beginsWaiting(w *waiter) {
	if r := d.eng.Recording(); r != nil {
		w.traced = r.Clock()
	}
	if trace.IsEnabled() {
		w.region = trace.StartRegion(context.Background(), "mx wait")
	}
}

func (d *Endpoint) endsWaiting(w *waiter) {
	if w.traced != 0 {
		ev := endpoint.Event{Kind: endpoint.EventWait, Since: w.traced, Match: w.class}
		if w.kind == forRequest {
			ev.Request = w.handle
		}
		d.eng.Record(ev)
		w.traced = 0
	}
	if w.region != nil {
		w.region.End()
		w.region = nil
	}
}
