package mx

import (
	"gomx/endpoint"
	"gomx/endpoint/driver"
)

// Counter is one counter of an endpoint, a board, or what is built on them.
type Counter struct {
	Name   string      `json:"name"`             // an identifier: small letters, digits and underscores
	Label  string      `json:"label,omitempty"`  // for people, at most MaxStrLen-1 bytes
	Labels []Label     `json:"labels,omitempty"` // what tells counters of one name apart, such as their transport
	Kind   CounterKind `json:"kind"`
	Unit   string      `json:"unit,omitempty"` // what is counted, as in "messages" or "bytes"
	Help   string      `json:"help,omitempty"` // what the value says
	Value  uint64      `json:"value"`
}

// Label is a property of a counter that belongs to its identity. Its name is an identifier.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CounterKind says how the value of a counter moves.
type CounterKind string

// The kinds of counters.
const (
	Cumulative CounterKind = "counter" // it only grows, from 0 when what counts was made
	Gauge      CounterKind = "gauge"   // it describes a moment, or a peak
)

// tally is the values of all counters, in the order of counterTable.
type tally [len(counterTable)]uint64

// counterLine describes a counter. Boards show the sum of gauges over open endpoints, and forget them with the
// endpoint.
type counterLine struct {
	name, label string
	labels      []Label
	kind        CounterKind
	unit, help  string
	value       func(r *driver.Report) uint64
}

func sum(r *driver.Report, f func(m *endpoint.Medium) uint64) uint64 {
	var n uint64
	for i := range r.Media {
		n += f(&r.Media[i])
	}
	return n
}

// of sums f over the transport of that name.
func of(name string, f func(m *endpoint.Medium) uint64) func(r *driver.Report) uint64 {
	return func(r *driver.Report) uint64 {
		return sum(r, func(m *endpoint.Medium) uint64 {
			if m.Name != name {
				return 0
			}
			return f(m)
		})
	}
}

func waited(f func(t *endpoint.Tally) uint64) func(r *driver.Report) uint64 {
	return func(r *driver.Report) uint64 {
		var n uint64
		for _, t := range r.Tallies {
			n += f(&t)
		}
		return n
	}
}

func on(transport string) []Label { return []Label{{"transport", transport}} }

func over(f func(m *endpoint.Medium) uint64) func(r *driver.Report) uint64 {
	return func(r *driver.Report) uint64 { return sum(r, f) }
}

func sent(m *endpoint.Medium) uint64     { return m.SentEager + m.SentRendezvous }
func received(m *endpoint.Medium) uint64 { return m.RecvEager + m.RecvRendezvous }

func (ep *Endpoint) tally() tally {
	r := ep.d.Report()
	return tallyOf(&r)
}

func tallyOf(r *driver.Report) (t tally) {
	for i := range counterTable {
		t[i] = counterTable[i].value(r)
	}
	return t
}

// add returns the sum of t and u without u's gauges.
func (t tally) add(u tally) tally {
	for i := range t {
		if counterTable[i].kind == Cumulative {
			t[i] += u[i]
		}
	}
	return t
}

func (t tally) list() []Counter {
	all := make([]Counter, len(t))
	for i := range t {
		l := &counterTable[i]
		all[i] = Counter{l.name, l.label, l.labels, l.kind, l.unit, l.help, t[i]}
	}
	return all
}

// Counters returns the endpoint's counters, which are always on. Safe from any
// goroutine, also after Close.
func (ep *Endpoint) Counters() []Counter { return ep.tally().list() }

// Diagnostic is a line of an endpoint's diagnostics.
type Diagnostic struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Diagnostics returns lines about the endpoint's transports, for example why large messages are not copied directly. Safe
// from any goroutine.
func (ep *Endpoint) Diagnostics() []Diagnostic {
	r := ep.d.Report()
	return ep.allDiagnostics(r.Diagnostics)
}

// BoardCounters returns the counters of a board: those of all endpoints that
// this process has, or has had, open on it. Errors: ErrNotInitialized,
// ErrBoardUnknown. Safe from any goroutine.
func BoardCounters(board uint32) ([]Counter, error) {
	if _, ok, err := boardAt("counters", board); !ok {
		return nil, err
	}
	lib.mu.Lock()
	total := lib.retired[board]
	lib.mu.Unlock()
	for _, ep := range endpoints() {
		if ep.Board() == board {
			for i, v := range ep.tally() {
				total[i] += v
			}
		}
	}
	return total.list(), nil
}
