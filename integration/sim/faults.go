package sim

import (
	"time"

	"gomx/transport"
)

// faults is what goes wrong while messages are sent.
type faults struct {
	w  *World
	at time.Duration // of the next one, or of the next look

	// healBy is when cuts and partitions end, whatever is yet to be sent: a link
	// that never holds long enough is as good as none, and its sessions would end
	// with the request timeout, as they should.
	healBy time.Duration

	cut, split, heal, restart, parting time.Duration
	restarts, partings                 int
	closed                             []closedNode
}

type closedNode struct {
	n    *node
	left int
	at   time.Duration // when it is opened anew
}

const farOff = time.Duration(1<<63 - 1)

func (w *World) newFaults() *faults {
	p := &w.plan
	f := &faults{w: w, cut: farOff, split: farOff, heal: farOff, restart: farOff, parting: farOff}
	f.restarts, f.partings = p.Restarts, p.Partings
	f.healBy = time.Duration(p.Engine.RequestTimeout) * tick / 4
	if p.CutEvery > 0 {
		f.cut = f.soon(p.CutEvery)
	}
	if p.SplitEvery > 0 {
		f.split = f.soon(p.SplitEvery)
	}
	if p.Restarts > 0 {
		f.restart = f.soon(f.length() / time.Duration(1+p.Restarts))
	}
	if p.Partings > 0 {
		f.parting = f.soon(f.length() / time.Duration(1+p.Partings))
	}
	w.faulty = p.CutEvery > 0 || p.SplitEvery > 0
	return f
}

// length guesses how long the sending will last.
func (f *faults) length() time.Duration {
	p := &f.w.plan
	return time.Millisecond + time.Duration(2*p.Messages/p.Endpoints/(1+p.Burst))*p.Think
}

func (f *faults) soon(mean time.Duration) time.Duration {
	return f.w.net.Now() + time.Duration(f.w.rng.ExpFloat64()*float64(mean)) + 1
}

// next sets at to the time of the next fault. It is a look at whether all is sent
// if there is none for long.
func (f *faults) next(now time.Duration) {
	f.at = min(f.cut, f.split, f.heal, f.restart, f.parting, now+tick)
	for _, c := range f.closed {
		f.at = min(f.at, c.at)
	}
}

func (f *faults) happen() {
	w, now := f.w, f.w.net.Now()
	w.net.RunUntil(max(now, min(f.at, now+tick)))
	now = w.net.Now()
	if now >= f.healBy {
		f.cut, f.split = farOff, farOff
	}
	if now >= f.cut {
		a, b := w.someone(), w.someone()
		w.net.Cut(addressOf(a.index), addressOf(b.index))
		f.cut = f.soon(w.plan.CutEvery)
	}
	if now >= f.split {
		f.divide()
		f.split, f.heal = farOff, f.soon(w.plan.SplitFor)
	}
	if now >= f.heal {
		w.net.Partition(nil)
		if f.heal = farOff; now < f.healBy {
			f.split = f.soon(w.plan.SplitEvery)
		}
	}
	if now >= f.parting {
		if n := w.someone(); n.engine != nil {
			w.report.Partings++
			n.part(w.someone().index)
		}
		if f.partings--; f.partings > 0 {
			f.parting = f.soon(f.length() / time.Duration(1+w.plan.Partings))
		} else {
			f.parting = farOff
		}
	}
	f.restartSomeone(now)
}

func (w *World) someone() *node { return w.nodes[w.rng.IntN(len(w.nodes))] }

// divide begins a partition into two groups.
func (f *faults) divide() {
	f.w.report.Splits++
	key := f.w.rng.Uint64()
	f.w.net.Partition(func(a transport.Address) int { return int(mix(key^a.NIC) & 1) })
}

// restartSomeone closes an endpoint, or opens one that has been closed.
func (f *faults) restartSomeone(now time.Duration) {
	w := f.w
	if now >= f.restart {
		f.restart = farOff
		if f.restarts--; f.restarts > 0 {
			f.restart = f.soon(f.length() / time.Duration(1+w.plan.Restarts))
		}
		if n := w.someone(); n.engine != nil {
			w.report.Restarts++
			after := f.soon(f.length() / 10)
			if w.rng.IntN(2) == 0 {
				after = now // at once
			}
			f.closed = append(f.closed, closedNode{n, w.kill(n), after})
		}
	}
	for i := 0; i < len(f.closed); i++ {
		if c := f.closed[i]; now >= c.at {
			w.revive(c)
			f.closed = append(f.closed[:i], f.closed[i+1:]...)
			i--
		}
	}
}

// kill ends a life and returns how many messages it had still to send.
func (w *World) kill(n *node) (left int) {
	for _, other := range w.nodes {
		w.spoil(n.index, other.index)
	}
	n.enter()
	n.collect()
	left, n.left = n.left, 0
	n.close(w.rng.IntN(2) == 0)
	n.abandon()
	return left
}

func (w *World) revive(c closedNode) {
	if err := c.n.open(rightFilter); err != nil {
		w.fail(c.n, "open: %v", err)
		return
	}
	c.n.begin(c.left)
	if c.n.index < w.plan.Slow {
		c.n.port.SetPoll(w.plan.SlowPoll)
	}
}

// end mends everything.
func (f *faults) end() {
	w := f.w
	w.net.Partition(nil)
	for _, c := range f.closed {
		w.revive(c)
	}
	for _, n := range w.nodes {
		n.port.SetPoll(0)
	}
}
