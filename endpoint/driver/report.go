package driver

import (
	"gomx/endpoint"
	"gomx/transport"
)

// Report is what is known about a running endpoint.
type Report struct {
	Counters    endpoint.Counters
	Depths      endpoint.Depths
	Media       []endpoint.Medium
	Tallies     map[uint64]endpoint.Tally
	Refused     uint64 // handshakes of strangers, other versions, other users
	Corrupt     uint64 // links or segments given up because they held nonsense
	Fallbacks   uint64 // direct copies that failed and went another way
	Diagnostics []transport.Diagnostic
}

// Outstanding returns at most most of the requests that are not complete, the number of all of them, and the present tick.
func (d *Endpoint) Outstanding(most int) (list []endpoint.Outstanding, all int, now endpoint.Tick) {
	d.visit()
	defer d.unlock()
	if !d.closed {
		list, all = d.eng.Outstanding(most)
	}
	return list, all, d.tick(d.clock())
}

// Windows returns at most most of the windows that peers may use.
func (d *Endpoint) Windows(most int) (list []endpoint.WindowState) {
	d.visit()
	defer d.unlock()
	if !d.closed {
		list = d.eng.Windows(most)
	}
	return list
}

// MergeTally adds the tally of a class to that of another class, and removes the first.
func (d *Endpoint) MergeTally(class, into uint64) {
	d.visit()
	d.eng.MergeTally(class, into)
	d.unlock()
}

// Report returns the engine's counters and the diagnostics of all ports.
func (d *Endpoint) Report() Report {
	d.visit()
	if s := d.sampler; s != nil && len(s.taken) == samples {
		d.endRound()
	}
	r := Report{Counters: d.eng.Counters(), Depths: d.eng.Depths(), Media: d.eng.Media(), Tallies: d.eng.Tallies()}
	ports := d.ports
	d.unlock()
	r.Refused = d.refused.Load()
	r.Corrupt = d.oddities[transport.CorruptFrames].Load()
	r.Fallbacks = d.oddities[transport.PullFallbacks].Load()
	for _, p := range ports {
		r.Diagnostics = append(r.Diagnostics, p.Diagnostics()...)
	}
	return r
}
