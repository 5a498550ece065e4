package mx

import (
	"gomx/endpoint"
	"gomx/endpoint/driver"
)

// Counter is one counter of an endpoint or a board.
type Counter struct {
	Label string `json:"label"` // at most MaxStrLen-1 bytes
	Value uint64 `json:"value"`
}

// tally is the values of all counters, in the order of counterTable.
type tally [len(counterTable)]uint64

// gauge marks counters that describe a moment, so that boards show the sum over
// open endpoints and forget them with the endpoint.
type counterLine struct {
	label string
	gauge bool
	value func(r *driver.Report) uint64
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

func over(f func(m *endpoint.Medium) uint64) func(r *driver.Report) uint64 {
	return func(r *driver.Report) uint64 { return sum(r, f) }
}

func sent(m *endpoint.Medium) uint64     { return m.SentEager + m.SentRendezvous }
func received(m *endpoint.Medium) uint64 { return m.RecvEager + m.RecvRendezvous }

// counterTable is the fixed order of the counters.
var counterTable = [...]counterLine{
	{"messages sent", false, over(sent)},
	{"messages received", false, over(received)},
	{"sent eager", false, over(func(m *endpoint.Medium) uint64 { return m.SentEager })},
	{"sent rendezvous", false, over(func(m *endpoint.Medium) uint64 { return m.SentRendezvous })},
	{"received eager", false, over(func(m *endpoint.Medium) uint64 { return m.RecvEager })},
	{"received rendezvous", false, over(func(m *endpoint.Medium) uint64 { return m.RecvRendezvous })},
	{"pulled directly", false, over(func(m *endpoint.Medium) uint64 { return m.PulledDirect })},
	{"pulled by blocks", false, over(func(m *endpoint.Medium) uint64 { return m.PulledBlocks })},
	{"bytes sent", false, over(func(m *endpoint.Medium) uint64 { return m.BytesSent })},
	{"bytes received", false, over(func(m *endpoint.Medium) uint64 { return m.BytesReceived })},
	{"sent over self", false, of("self", sent)},
	{"sent over mem", false, of("mem", sent)},
	{"sent over shm", false, of("shm", sent)},
	{"sent over rdma", false, of("rdma", sent)},
	{"sent over tcp", false, of("tcp", sent)},
	{"received over self", false, of("self", received)},
	{"received over mem", false, of("mem", received)},
	{"received over shm", false, of("shm", received)},
	{"received over rdma", false, of("rdma", received)},
	{"received over tcp", false, of("tcp", received)},
	{"sends that waited for a link", false, func(r *driver.Report) uint64 { return r.Counters.Queued }},
	{"posted receives", true, func(r *driver.Report) uint64 { return uint64(r.Depths.Posted) }},
	{"posted receives, peak", true, func(r *driver.Report) uint64 { return uint64(r.Depths.PostedPeak) }},
	{"posted receives looked at", false, func(r *driver.Report) uint64 { return r.Depths.PostedProbes }},
	{"unexpected messages", true, func(r *driver.Report) uint64 { return uint64(r.Depths.Unexpected) }},
	{"unexpected messages, peak", true, func(r *driver.Report) uint64 { return uint64(r.Depths.UnexpectedPeak) }},
	{"claimed messages", true, func(r *driver.Report) uint64 { return uint64(r.Depths.Claimed) }},
	{"unexpected bytes", true, func(r *driver.Report) uint64 { return uint64(r.Depths.Bytes) }},
	{"unexpected bytes, peak", true, func(r *driver.Report) uint64 { return uint64(r.Depths.BytesPeak) }},
	{"unexpected messages looked at", false, func(r *driver.Report) uint64 { return r.Depths.Walked }},
	{"unexpected handler calls", false, func(r *driver.Report) uint64 { return r.Counters.Handled }},
	{"requests in use", true, func(r *driver.Report) uint64 { return uint64(r.Depths.Requests) }},
	{"requests in use, peak", true, func(r *driver.Report) uint64 { return uint64(r.Depths.RequestsPeak) }},
	{"credit frames", false, func(r *driver.Report) uint64 { return r.Counters.CreditFrames }},
	{"sends without credit for bytes", false, func(r *driver.Report) uint64 { return r.Counters.WithoutBytes }},
	{"sends that waited for credit", false, func(r *driver.Report) uint64 { return r.Counters.Waited }},
	{"drop: peers beyond their credit", false, func(r *driver.Report) uint64 { return r.Counters.WindowBroken }},
	{"drop: with their session", false, func(r *driver.Report) uint64 { return r.Counters.Dropped }},
	{"drop: stale", false, func(r *driver.Report) uint64 { return r.Counters.Stale }},
	{"drop: malformed", false, func(r *driver.Report) uint64 { return r.Counters.Malformed }},
	{"drop: bad session", false, func(r *driver.Report) uint64 { return r.Counters.BadSession }},
	{"drop: duplicate", false, func(r *driver.Report) uint64 { return r.Counters.Duplicates }},
	{"drop: too early", false, func(r *driver.Report) uint64 { return r.Counters.TooEarly }},
	{"early, held", false, func(r *driver.Report) uint64 { return r.Counters.Early }},
	{"sent again", false, func(r *driver.Report) uint64 { return r.Counters.Resent }},
	{"blocks asked for again", false, func(r *driver.Report) uint64 { return r.Counters.BlocksAgain }},
	{"connects asked again", false, func(r *driver.Report) uint64 { return r.Counters.ConnectsAgain }},
	{"connects with a wrong filter", false, func(r *driver.Report) uint64 { return r.Counters.BadFilter }},
	{"claims to addresses in use", false, func(r *driver.Report) uint64 { return r.Counters.Claims }},
	{"claims shown to be false", false, func(r *driver.Report) uint64 { return r.Counters.FalseClaims }},
	{"resumes without the token", false, func(r *driver.Report) uint64 { return r.Counters.BadProofs }},
	{"strangers who made room", false, func(r *driver.Report) uint64 { return r.Counters.Strangers }},
	{"links broken for their pieces", false, func(r *driver.Report) uint64 { return r.Counters.PiecesMade }},
	{"direct pulls that failed", false, func(r *driver.Report) uint64 { return r.Counters.PullFallbacks }},
	{"links broken", false, func(r *driver.Report) uint64 { return r.Counters.Breaks }},
	{"sessions resumed", false, func(r *driver.Report) uint64 { return r.Counters.Resumed }},
	{"puts", false, over(func(m *endpoint.Medium) uint64 { return m.Puts })},
	{"gets", false, over(func(m *endpoint.Medium) uint64 { return m.Gets })},
	{"puts served", false, over(func(m *endpoint.Medium) uint64 { return m.PutsServed })},
	{"gets served", false, over(func(m *endpoint.Medium) uint64 { return m.GetsServed })},
	{"windows", true, func(r *driver.Report) uint64 { return uint64(r.Depths.Windows) }},
	{"puts and gets that no window permits", false, func(r *driver.Report) uint64 { return r.Counters.NoAccess }},
	{"puts and gets ended with their window", false, func(r *driver.Report) uint64 { return r.Counters.Withdrawn }},
	{"timeouts", false, func(r *driver.Report) uint64 { return r.Counters.Timeouts }},
	{"handshakes refused", false, func(r *driver.Report) uint64 { return r.Refused }},
	{"corrupt links or frames", false, func(r *driver.Report) uint64 { return r.Corrupt + r.Counters.Corrupt }},
}

func (ep *Endpoint) tally() (t tally) {
	r := ep.d.Report()
	for i := range counterTable {
		t[i] = counterTable[i].value(&r)
	}
	return t
}

// add returns the sum of t and u without u's gauges.
func (t tally) add(u tally) tally {
	for i := range t {
		if !counterTable[i].gauge {
			t[i] += u[i]
		}
	}
	return t
}

func (t tally) list() []Counter {
	all := make([]Counter, len(t))
	for i := range t {
		all[i] = Counter{counterTable[i].label, t[i]}
	}
	return all
}

// Counters returns the endpoint's counters, which are always on. Safe from any
// goroutine, also after Close.
func (ep *Endpoint) Counters() []Counter { return ep.tally().list() }

// Fact is a line about an endpoint's transports, for people.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Facts returns what there is to say about the endpoint's transports, such as
// why large messages are not copied directly. Safe from any goroutine.
func (ep *Endpoint) Facts() []Fact {
	r := ep.d.Report()
	all := make([]Fact, 0, len(r.Facts)+1)
	for _, f := range r.Facts {
		all = append(all, Fact(f))
	}
	if ep.not != nil {
		all = append(all, Fact{"no RDMA because", words(ep.not)})
	}
	return all
}

// BoardCounters returns the counters of a board: those of all endpoints that
// this process has, or has had, open on it. Errors: ErrNotInitialized,
// ErrBoardUnknown. Safe from any goroutine.
func BoardCounters(board uint32) ([]Counter, error) {
	if _, err := boardAt("counters", board); err != nil {
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
