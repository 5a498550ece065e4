package driver

import (
	"context"
	"runtime/trace"

	"gomx/endpoint"
)

// RecordTo has what happens to messages, and waits, recorded; nil ends that, and when it returns nobody uses the former
// recorder any more. It works on a closed endpoint too.
func (d *Endpoint) RecordTo(r *endpoint.Recorder) {
	d.lockForeign()
	d.eng.RecordTo(r)
	d.unlock()
}

// Record adds an event of a layer above, whose caller is one of those that make requests. Nothing is recorded without a recorder.
func (d *Endpoint) Record(ev endpoint.Event) {
	d.lock()
	d.eng.Record(ev)
	d.unlock()
}

// beginsWaiting and endsWaiting are called about each wait that is not over within a few polls, both in the goroutine that waits.
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
