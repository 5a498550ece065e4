package sim

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"gomx/endpoint"
)

// app is the program that uses an endpoint. It takes turns: it collects what is
// complete, posts receives, probes, sends, and now and then cancels, disconnects
// or sets a timeout.
type app struct {
	rng   *rand.Rand
	peers []partner
	ops   []*op  // under way
	flows []flow // of this life, by receiver

	windows    []*window // of this life, the last one open
	queue      endpoint.QueueID
	puts       puts
	counted    counted
	admissions admissions
	steps      endpoint.QueueID // a counter
	asked      bool             // for the last message of a peer before all others
	got        bool             // and has it
	back       time.Duration    // when the program looks at what has arrived again

	left     int    // messages to send
	sends    int    // under way
	receives int    // posted
	posts    uint32 // receives posted in this life

	turns   uint64
	turnDue bool
	turnAt  time.Duration
	idle    time.Duration // grows while there is nothing to do
}

// partner is what a program knows of another endpoint.
type partner struct {
	addr       endpoint.Addr
	connected  bool // as far as the program knows
	connecting bool
	next       time.Duration // when the next connect may be tried
	place      place
	atomics    int    // under way
	life       int    // the last one whose contexts are known
	until      uint64 // the step at which the last send to it begins, which later ones must not overtake
}

type opKind uint8

const (
	opSend opKind = iota
	opReceive
	opConnect
	opPut
	opGet
	opAtomic
)

// op is one request of a program.
type op struct {
	kind      opKind
	live      bool
	level     endpoint.Level
	triggered bool // send: it may not have begun
	wrong     bool // connect: with a filter that is not the peer's
	place     int  // in app.ops
	handle    endpoint.Handle
	buffer    buffer

	peer    int // but for receives
	message message
	size    int

	window *window // puts, gets and atomics
	fetch  bool    // atomics

	value, mask uint64 // receives; of puts, what they bring
	post        uint32
	last        bool // what wantsLast waits for
	multi       bool // a receive for many messages
	scope       scope

	answer [callBytes]byte // connects
}

const (
	rightFilter = 0x51
	wrongFilter = 0x15

	longestIdle = 50 * time.Millisecond
	connectWait = 2 * time.Millisecond
)

// begin starts the program of a life.
func (n *node) begin(messages int) {
	w := n.w
	n.rng = rand.New(rand.NewPCG(w.plan.Seed^uint64(n.index)<<32, uint64(n.life)))
	n.peers = slices.Grow(n.peers[:0], len(w.nodes))[:len(w.nodes)]
	clear(n.peers)
	n.peers[n.index] = partner{addr: n.engine.Self(), connected: true}
	n.flows = w.newFlows(n.index, n.life)
	n.left, n.sends, n.receives, n.posts = messages, 0, 0, 0
	n.turnDue, n.idle, n.back = false, 0, 0
	n.asked, n.got = false, false
	if n.index < w.plan.Absent {
		n.back = w.net.Now() + w.plan.AbsentFor
	}
	n.schedule(time.Duration(n.rng.ExpFloat64() * float64(w.plan.Think)))
}

// abandon ends the program with its endpoint.
func (n *node) abandon() {
	for _, o := range n.ops {
		if o.kind == opSend {
			n.flows[o.peer].sent[o.message.number].state |= recordLost
		}
		o.live = false
		n.w.buffers.give(o.buffer)
	}
	n.ops = n.ops[:0]
}

func (n *node) schedule(after time.Duration) {
	at := n.w.net.Now() + after
	if n.turnDue && n.turnAt <= at {
		return
	}
	n.turns++
	n.turnDue, n.turnAt = true, at
	n.port.StartTimer(after, n.turns*timerKinds+timerTurn)
}

// wake has a program that has been idle look again soon.
func (n *node) wake() {
	if n.idle > n.w.plan.Think && n.engine != nil {
		n.idle = 0
		n.schedule(n.w.plan.Think)
	}
}

// turn is one turn of the program.
func (n *node) turn() {
	w := n.w
	if w.plan.Handler && n.turns > uint64(w.plan.HandlerAt) {
		n.engine.SetHandler(true)
	}
	did := n.collect()
	n.checkCounter()
	n.checkCounted()
	n.step()
	n.answerVisitors()
	n.freeWindows()
	if n.left > 0 && len(n.windows) > 0 && n.rng.IntN(300) == 0 {
		n.changeWindow()
	}
	if n.w.net.Now() >= n.back || w.draining {
		did = n.receive() || did
	}
	did = n.send() || did
	if n.left > 0 && n.rng.IntN(64) == 0 {
		n.cancel()
	}
	if did || n.left > 0 && n.sends < w.plan.Pending {
		n.idle = 0
	} else {
		n.idle = min(max(2*n.idle, w.plan.Think), longestIdle)
	}
	n.schedule(n.idle + time.Duration(n.rng.ExpFloat64()*float64(w.plan.Think)))
}

// collect takes all requests that are complete.
func (n *node) collect() (any bool) {
	var st endpoint.Status
	for h, message, of := n.engine.Dequeue(n.queue, &st); of != nil; h, message, of = n.engine.Dequeue(n.queue, &st) {
		any = true
		n.completed(h, message, of)
		of.Context = nil
	}
	for {
		h, ok := n.engine.Peek()
		if !ok {
			return any
		}
		any = true
		if done, err := n.engine.Test(h, &st); !done || err != nil {
			n.w.fail(n, "a completed request can't be collected: %v", err)
			return any
		}
		n.completed(h, nil, &st)
		if n.w.plant.completeTwice && n.rng.IntN(100) == 0 {
			n.completed(h, nil, &st)
		}
		if n.rng.IntN(16) == 0 {
			if done, err := n.engine.Test(h, &st); done || !errors.Is(err, endpoint.ErrBadRequest) {
				n.w.fail(n, "a handle that was collected gives %v, %v", done, err)
			}
		}
	}
}

// send starts sends to peers, and connects where there is no session.
func (n *node) send() (any bool) {
	p := &n.w.plan
	for range 1 + n.rng.IntN(p.Burst) {
		if n.left == 0 || n.sends >= p.Pending {
			return any
		}
		to := n.rng.IntN(len(n.peers))
		if len(n.peers) > 1 && to == n.index && n.rng.IntN(4) != 0 {
			to = (to + 1) % len(n.peers)
		}
		if !n.peers[to].connected {
			any = n.connect(to, false) || any
			continue
		}
		any = true
		if p.Access > 0 && n.rng.IntN(100) < p.Access && n.access(to) {
			continue
		}
		n.sendTo(to)
		if n.rng.IntN(1000) == 0 {
			n.connect(to, n.rng.IntN(4) == 0)
		}
	}
	return any
}

// cuts is how many times a buffer is cut: most are whole, as most messages are.
func (n *node) cuts() int {
	if c := n.rng.IntN(8); c < 3 {
		return c
	}
	return 0
}

func (n *node) sendTo(to int) {
	w := n.w
	f := &n.flows[to]
	number := uint32(len(f.sent))
	m, size := w.plan.message(n.index, n.life, to, number)
	o := w.newOp(n, opSend)
	o.peer, o.message, o.size = to, m, size
	if n.rng.IntN(100) < w.plan.Sync {
		o.level = endpoint.Matched
	} else if mix(m.match())%100 < uint64(w.plan.Acked) {
		o.level = endpoint.Acknowledged
	}
	o.buffer = w.buffers.take(size)
	fill(o.buffer.bytes(), m.match())
	at := &n.peers[to]
	r := record{session: at.addr.Session}
	if o.level == endpoint.Matched {
		r.state = recordSync
	}
	f.sent = append(f.sent, r)
	n.left--
	n.sends++
	w.report.Messages++
	var err error
	v := o.buffer.segments(n.cuts())
	out, opts := endpoint.Outgoing{First: v.First, To: at.addr, Match: m.match(), Context: o}, endpoint.SendOptions{Rest: v.Rest, Level: o.level}
	if when, triggered := n.trigger(m); triggered {
		o.triggered = true
		w.report.Triggered++
		o.handle, err = n.engine.SendAt(when, &out, &opts)
	} else if n.count(o) {
		n.counted.ops = append(n.counted.ops, o)
		opts.Counter = n.counted.counter
		_, err = n.engine.Send(&out, &opts)
	} else {
		o.handle, err = n.engine.Send(&out, &opts)
	}
	if err != nil {
		w.fail(n, "send: %v", err)
		return
	}
	if opts.Counter != endpoint.Private {
		return // it has no handle
	}
	n.choose(o)
	if w.plan.Timeouts > 0 && to != n.index && n.rng.IntN(1000) < w.plan.Timeouts {
		w.spoil(n.index, to)
		if err := n.engine.SetTimeout(o.handle, endpoint.Tick(1+n.rng.IntN(100))); err != nil {
			w.fail(n, "set timeout: %v", err)
		}
	}
}

// choose has a request complete into the queue of its own, or not.
func (n *node) choose(o *op) {
	if n.w.plan.Queued == 0 || n.rng.IntN(100) >= n.w.plan.Queued {
		return
	}
	if err := n.engine.Enqueue(o.handle, n.queue); err != nil {
		n.w.fail(n, "enqueue: %v", err)
	}
}

// connect asks a peer for a session, if that is not under way.
func (n *node) connect(to int, wrong bool) bool {
	at := &n.peers[to]
	if at.connecting || n.w.net.Now() < at.next {
		return false
	}
	at.connecting = true
	o := n.w.newOp(n, opConnect)
	o.peer, o.wrong = to, wrong
	filter := uint32(rightFilter)
	if wrong {
		filter = wrongFilter
	}
	n.callPeer(o, filter)
	return true
}
