//go:build linux && cgo

package rdma

import (
	"fmt"
	"time"

	"gomx/transport"
)

// A queue pair either does what it was asked to, or says after its retries that it
// can't, whatever the peer's program does meanwhile: credits see to that. One that does
// neither, as Soft-RoCE has been seen to, is taken for broken. While there are
// requests under way somebody looks each watchEvery.
const (
	watchEvery = time.Second
	stallBound = 5 // looks in a row that find no progress
)

// startWatch has the watchdog come if it does not already. It is called with each post.
func (p *port) startWatch() {
	if p.watching {
		return
	}
	p.watching = true
	if p.watchdog == nil {
		p.watchdog = time.AfterFunc(watchEvery, p.bark)
		return
	}
	p.watchdog.Reset(watchEvery)
}

// bark has the next Poll look at all links.
func (p *port) bark() {
	p.barked.Store(true)
	p.bell.Ring()
}

// lookForStalls ends links that do nothing, and has those that are done with all but
// what makes no completion finish that.
func (p *port) lookForStalls() {
	p.barked.Store(false)
	p.watching = false
	for _, l := range p.table {
		w := &l.work
		switch {
		case w.len() == 0 || l.broken != nil:
			w.stalled = 0
			continue
		case w.unmarked == w.len():
			l.markEnd()
		}
		if w.stalled++; w.head != w.seen {
			w.stalled = 0
		}
		w.seen = w.head
		if w.stalled >= stallBound {
			p.ail(l, fmt.Errorf("%w: queue pair %d does nothing, with %d requests under way",
				transport.ErrPeerDied, l.number, w.len()))
			continue
		}
		p.startWatch()
	}
}
