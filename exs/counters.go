package exs

import (
	"sync/atomic"

	"gomx/mx"
)

// counts are the counters of a library.
type counts struct {
	strangers, nonsense, late, held atomic.Uint64
}

// Counters returns what the library has counted.
func (l *Library) Counters() []mx.Counter {
	if l.none() {
		return nil
	}
	l.mu.RLock()
	open := len(l.sockets) - len(l.free)
	l.mu.RUnlock()
	return []mx.Counter{
		{Label: "sockets", Value: uint64(open)},
		{Label: "strangers refused by listeners", Value: l.counts.strangers.Load()},
		{Label: "messages that made no sense", Value: l.counts.nonsense.Load()},
		{Label: "messages for sockets that are gone", Value: l.counts.late.Load()},
		{Label: "packets held for a receive", Value: l.counts.held.Load()},
	}
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
