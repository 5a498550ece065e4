//go:build linux && cgo

package rdma

import (
	"fmt"
	"time"

	"gomx/transport"
)

// A queue pair either completes its requests or reports after its retries that it can't,
// whatever the peer's program does meanwhile, because credits bound what is sent. A
// queue pair that does neither, which happens with Soft-RoCE, is treated as broken.
// While requests are outstanding the watchdog expires each watchEvery.
const (
	watchEvery = time.Second
	stallBound = 5 // looks in a row that find no progress
)

// startWatch starts the watchdog's timer unless it runs. It is called with each post.
func (p *port) startWatch() {
	if p.watching {
		return
	}
	p.watching = true
	if p.watchdog == nil {
		p.watchdog = time.AfterFunc(watchEvery, p.watchdogExpired)
		return
	}
	p.watchdog.Reset(watchEvery)
}

// watchdogExpired makes the next Poll look at all links for stalls.
func (p *port) watchdogExpired() {
	p.expired.Store(true)
	p.bell.Ring()
}

// lookForStalls ends links that make no progress. A link whose only outstanding requests
// make no completion gets one more request that does.
func (p *port) lookForStalls() {
	p.expired.Store(false)
	p.watching = false
	for _, l := range p.table {
		w := &l.work
		switch {
		case w.len() == 0 || l.broken != nil:
			w.stalled = 0
			continue
		case w.unsignaled == w.len():
			l.markEnd()
		}
		if w.stalled++; w.head != w.seen {
			w.stalled = 0
		}
		w.seen = w.head
		if w.stalled >= stallBound {
			p.markFailing(l, fmt.Errorf("%w: queue pair %d does nothing, with %d requests under way",
				transport.ErrPeerDied, l.number, w.len()))
			continue
		}
		p.startWatch()
	}
}
