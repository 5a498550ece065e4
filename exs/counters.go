package exs

import (
	"sync/atomic"

	"gomx/mx"
)

// counts are the counters of a library.
type counts struct {
	strangers, nonsense, late, held, direct atomic.Uint64
}

// Counters returns what the library has counted. Snapshots of package mx show it too. Safe from any goroutine.
func (l *Library) Counters() []mx.Counter {
	if l.none() {
		return nil
	}
	l.mu.RLock()
	open := len(l.sockets) - len(l.free)
	l.mu.RUnlock()
	return []mx.Counter{
		{Name: "sockets", Label: "sockets", Kind: mx.Gauge, Unit: "sockets",
			Help: "sockets that are open", Value: uint64(open)},
		{Name: "strangers_refused", Label: "strangers refused by listeners", Kind: mx.Cumulative, Unit: "connections",
			Help: "connection attempts that listeners refused because they had not shown to be a peer's", Value: l.counts.strangers.Load()},
		{Name: "messages_malformed", Label: "messages that made no sense", Kind: mx.Cumulative, Unit: "messages",
			Help: "messages whose contents make no sense", Value: l.counts.nonsense.Load()},
		{Name: "messages_late", Label: "messages for sockets that are gone", Kind: mx.Cumulative, Unit: "messages",
			Help: "messages for sockets that are gone", Value: l.counts.late.Load()},
		{Name: "packets_held", Label: "packets held for a receive", Kind: mx.Cumulative, Unit: "packets",
			Help: "packets that came before a receive and were held", Value: l.counts.held.Load()},
		{Name: "connects_direct", Label: "connects without TCP", Kind: mx.Cumulative, Unit: "connections",
			Help: "connections that were made to listeners of this host over the endpoint alone, without TCP", Value: l.counts.direct.Load()},
	}
}

// counterGroups returns the counters in the form of snapshots.
func (l *Library) counterGroups() []mx.CounterGroup {
	return []mx.CounterGroup{{Layer: "exs", Labels: []mx.Label{{Name: "endpoint", Value: l.ep.Load().String()}}, Counters: l.Counters()}}
}

// inline is the largest message that is copied into the line of its header.
func (l *Library) inline() int {
	ep := l.ep.Load()
	var n uint32
	if ep == nil || mx.GetInfo(ep, mx.PIOSendMax, 0, &n) != nil {
		return 0
	}
	return int(n)
}
