package driver

import "gomx/endpoint"

// othersPolled is after how many polls of the port that has delivered last a catch polls all.
const othersPolled = 8

// catch polls for a moment for a message that the engine is to catch.
func (d *Endpoint) catch() (n int, h endpoint.Handle, err error) {
	for i := 0; i < briefly && d.eng.Catching() && d.wanted.Load() == 0; i++ {
		if got := d.ports[d.lively].Poll(d.eng); got > 0 {
			d.follow(got)
		} else if i%othersPolled == 0 {
			d.progress()
		}
	}
	return d.eng.EndCatch()
}

// catchInTurns is catch on a core that is shared, which it offers to others between two polls. While others may
// use the endpoint nothing is caught. False: it has given up, and nothing is posted.
func (d *Endpoint) catchInTurns(r *receipt) (n int, h endpoint.Handle, ok bool, err error) {
	budget := d.pace.begin()
	if budget == 0 {
		return 0, 0, false, nil
	}
	defer leaveSpin()
	wakeups := d.wakeups
	since, now := unread, unread
	for d.eng.Catch(r.b, r.from, r.value, r.mask) {
		for polls := 0; polls < pollsPerTurn && d.eng.Catching(); polls++ {
			d.progress()
		}
		if !d.eng.Catching() {
			n, h, err = d.eng.EndCatch()
			return n, h, true, err
		}
		d.eng.StopCatching()
		if d.eng.NextDue() != endpoint.Never {
			d.advance()
		}
		if since == unread {
			now = d.clock()
			since = now
		}
		if now-since > budget {
			break
		}
		if now = d.giveWay(now); d.wakeups != wakeups || d.blocked != 0 || d.closed || d.eng.Paused() {
			break
		}
	}
	return 0, 0, false, nil
}
