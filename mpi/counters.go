package mpi

import (
	"strconv"
	"sync/atomic"

	"gomx/mpi/internal/coll"
	"gomx/mx"
)

// Messages are counted by the endpoint, under the lock that a call has anyway: by class, which is the context. Collectives
// have a context of their own. What freed communicators have counted moves into a class that no message has.
const (
	classShift = contextShift
	freedClass = 1 << contextBits
)

// collectiveCounts counts collectives by kind and algorithm.
type collectiveCounts [coll.Choices]atomic.Uint64

// countsPointer points to the counts of a communicator, or nil before it has any.
type countsPointer struct {
	atomic.Pointer[collectiveCounts]
}

// count counts n collectives. The table is made for the first.
func (p *countsPointer) count(choice int, n uint64) {
	t := p.Load()
	if t == nil {
		t = p.begin()
	}
	t[choice].Add(n)
}

// begin makes the table, if nobody else does.
func (p *countsPointer) begin() *collectiveCounts {
	p.CompareAndSwap(nil, new(collectiveCounts))
	return p.Load()
}

// uncount moves what a communicator that is freed has counted to that of all freed ones, between two looks at the counters.
func (s *seat) uncount(c *Comm) {
	s.counting.Lock()
	defer s.counting.Unlock()
	s.known.remove(c, s.pendingContexts())
	st := c.state
	class := uint64(st.context)
	s.ep.MergeTally(class, freedClass)
	s.ep.MergeTally(class|1, freedClass|1)
	if t := st.collectives.Load(); t != nil {
		for choice := range t {
			if n := t[choice].Load(); n > 0 {
				s.gone.count(choice, n)
			}
		}
	}
}

// counterGroups returns the counters of the rank: one group for itself, one for each communicator, and one for all
// that were freed.
func (s *seat) counterGroups() []mx.CounterGroup {
	s.counting.Lock()
	defer s.counting.Unlock()
	rank := mx.Label{Name: "rank", Value: strconv.Itoa(s.rank)}
	groups := []mx.CounterGroup{{Layer: "mpi", Labels: []mx.Label{rank}, Counters: s.rankCounters()}}
	tallies := map[uint64]mx.Tally{}
	for _, t := range s.ep.Tallies() {
		tallies[t.Class] = t
	}
	for _, c := range s.known.all() {
		class := uint64(c.state.context)
		groups = append(groups, mx.CounterGroup{Layer: "mpi",
			Labels:   []mx.Label{rank, {Name: "comm", Value: c.Name()}, {Name: "context", Value: strconv.FormatUint(class, 10)}},
			Counters: commCounters(tallies[class], tallies[class|1], c.state.collectives.Load())})
	}
	if gone, collective := tallies[freedClass], tallies[freedClass|1]; gone != (mx.Tally{}) || collective != (mx.Tally{}) {
		groups = append(groups, mx.CounterGroup{Layer: "mpi", Labels: []mx.Label{rank, {Name: "comm", Value: ""}, {Name: "context", Value: "freed"}},
			Counters: commCounters(gone, collective, s.gone.Load())})
	}
	return groups
}

// rankCounters are those of the rank as a whole.
func (s *seat) rankCounters() []mx.Counter {
	return []mx.Counter{
		{Name: "size", Label: "ranks", Kind: mx.Gauge, Unit: "ranks", Help: "ranks of the world", Value: uint64(s.job.size)},
		{Name: "communicators", Label: "communicators", Kind: mx.Gauge, Unit: "communicators",
			Help: "communicators that are not freed, those of windows among them", Value: uint64(len(s.known.all()))},
		{Name: "long_waits", Label: "calls that block", Kind: mx.Gauge, Unit: "calls",
			Help: "calls that were found to block for long, and block still", Value: uint64(len(s.waits.all()))},
		{Name: "ranks_failed", Label: "failed ranks", Kind: mx.Gauge, Unit: "ranks",
			Help: "ranks that this process knows to have failed", Value: uint64(s.job.failures.count.Load())},
		{Name: "hang_reports", Label: "hang reports", Kind: mx.Cumulative, Unit: "reports",
			Help: "hang reports that this process has made", Value: s.job.hangReports.Load()},
	}
}

// commCounters are those of a communicator.
func commCounters(p2p, collective mx.Tally, ran *collectiveCounts) []mx.Counter {
	list := append(tallyCounters("", "", p2p), tallyCounters("collective_", " of collectives", collective)...)
	if ran == nil {
		return list
	}
	for choice := range ran {
		n := ran[choice].Load()
		if n == 0 {
			continue
		}
		kind, algorithm := coll.Chosen(choice)
		list = append(list, mx.Counter{
			Name: "collectives", Label: kind.String() + ", " + algorithm.String(), Kind: mx.Cumulative, Unit: "calls",
			Help:   "collectives, by operation and algorithm; those that the library makes itself are among them",
			Labels: []mx.Label{{Name: "operation", Value: kind.String()}, {Name: "algorithm", Value: algorithm.String()}}, Value: n,
		})
	}
	return list
}

func tallyCounters(prefix, of string, t mx.Tally) []mx.Counter {
	line := func(name, label, unit, help string, n uint64) mx.Counter {
		return mx.Counter{Name: prefix + name, Label: label + of, Kind: mx.Cumulative, Unit: unit, Help: help + of, Value: n}
	}
	return []mx.Counter{
		line("messages_sent", "messages sent", "messages", "messages sent", t.MessagesSent),
		line("messages_received", "messages received", "messages", "messages that a receive has taken", t.MessagesReceived),
		line("sent_bytes", "bytes sent", "bytes", "payload of messages sent", t.BytesSent),
		line("received_bytes", "bytes received", "bytes", "payload of messages that a receive has taken", t.BytesReceived),
		line("waits", "waits that proved long", "waits", "waits for messages that were not over within a few polls", t.Waits),
		line("wait_nanoseconds", "nanoseconds in such waits", "nanoseconds", "time in calls spent in such waits, summed over goroutines", uint64(t.Waited)),
		line("call_nanoseconds", "nanoseconds in calls", "nanoseconds",
			"time in all calls that send, receive, test and wait, summed over goroutines; that of short ones is estimated",
			uint64(t.InCalls)),
	}
}
