package mpi

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gomx/mpi/internal/coll"
	"gomx/mx"
)

// background is a nonblocking collective: a plan, whose steps are executed one after the other. If a step has to wait
// for a message, the collective is suspended: the message completes into a completion queue of the seat, whose handler
// executes the next steps. The collective therefore advances in whichever call makes progress on the seat's endpoint,
// and in the endpoint's own goroutine while there are no calls. It has no goroutine of its own.
//
// Its request names it by a ticket, and Test looks whether it has ended. For calls that wait with package mx, such as those
// for several requests, it gets a request there: a receive of a message that the rank sends to itself when the collective
// has ended. The background is kept with its net, for later collectives.
type background struct {
	n    *net
	op   string
	turn uint64 // of the collective, for calls that come late

	ended  atomic.Bool // there is nothing more to come, and collect may be called
	asked  atomic.Bool // there is a request of mx
	number uint64      // of that request
	ends   uint64      // match bits of the message that completes it

	// mu is held while the endpoint is called, and some of these calls make progress: Iclaim, for one. The handler of the queue
	// runs in whichever goroutine does that, so it may find mu held by its own goroutine, and never waits for it: it notes
	// what has arrived, and who unlocks handles that. mu is therefore always released by unlock. It must not be held while
	// waiting for progress, since the collective stands still meanwhile.
	mu    sync.Mutex
	notes arrivals
	stage stage
	steps coll.Plan
	next  int // step
	from  int // index of the first pending operation that is waited for; -1: none
	at    int // index of the one that is waited for now

	stop func() bool // detaches it from the context of the communicator
	err  error       // may be read when the request is complete
	wait *longWait   // the last one that was shown in a hang report

	before, after *background // neighbours in the seat's list of collectives that have not ended
}

// stage is how far a nonblocking collective is.
type stage uint8

const (
	stageOver       stage = iota
	stageConnecting       // it connects to the ranks that it sends to or receives from
	stageRunning          // steps are being executed
	stageSuspended        // it waits for a message
	stageFailing          // a goroutine executes the rest without data
)

// arrivals are messages that have arrived while the collective was locked.
type arrivals struct {
	some atomic.Bool // there are any
	mu   sync.Mutex  // never held across a call of the endpoint, or of the program
	list []mx.Completion
}

// add notes a message.
func (a *arrivals) add(d *mx.Completion) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, *d)
	a.some.Store(true)
}

// take returns a message that was noted, if there is one.
func (a *arrivals) take() (d mx.Completion, ok bool) {
	if !a.some.Load() {
		return d, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if last := len(a.list) - 1; last >= 0 {
		d, ok = a.list[last], true
		a.list[last] = mx.Completion{}
		a.list = a.list[:last]
	}
	a.some.Store(len(a.list) > 0)
	return d, ok
}

// unlock releases the lock, and handles what has arrived meanwhile.
func (b *background) unlock() {
	for {
		b.catchUp()
		if !b.notes.some.Load() || !b.mu.TryLock() {
			return // whoever has the lock now does it
		}
	}
}

// catchUp handles what was noted, and releases the lock, also if an operation of the program ends its goroutine.
func (b *background) catchUp() {
	defer b.mu.Unlock()
	for d, ok := b.notes.take(); ok; d, ok = b.notes.take() {
		b.goOn(&d)
	}
}

// backgrounds are the nonblocking collectives of a seat.
type backgrounds struct {
	once  sync.Once
	queue *mx.Queue // completion queue of the messages that they wait for
	err   error     // why there is no queue

	tickets tickets

	mu    sync.Mutex
	first *background
}

// open makes the completion queue. From now on the endpoint's own goroutine may make calls of the rank.
func (l *backgrounds) open(ep *mx.Endpoint) error {
	l.once.Do(func() {
		if l.queue, l.err = mx.NewQueue(ep); l.err == nil {
			l.err = l.queue.Handle(arrived)
		}
	})
	return l.err
}

// arrived advances the collectives that have waited for these messages: all of them, also if an operation of the program ends its
// goroutine, since the handler does not get these messages again.
func arrived(done []mx.Completion) {
	next := 0
	defer func() {
		if next < len(done) {
			arrived(done[next:])
		}
	}()
	for next < len(done) {
		d := &done[next]
		next++
		d.Status.Context.(interface{ arrived(*mx.Completion) }).arrived(d)
	}
}

func (l *backgrounds) add(b *background) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.after = l.first; b.after != nil {
		b.after.before = b
	}
	l.first = b
}

func (l *backgrounds) remove(b *background) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case b.before != nil:
		b.before.after = b.after
	case l.first == b:
		l.first = b.after
	}
	if b.after != nil {
		b.after.before = b.before
	}
	b.before, b.after = nil, nil
}

// all returns the collectives that have not ended.
func (l *backgrounds) all() (list []*background) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for b := l.first; b != nil; b = b.after {
		list = append(list, b)
	}
	return list
}

// what says what a request is that no receive has started, for messages. One that is complete does not tell what has started it.
func (q *Request) what() string {
	switch q.kind {
	case collectiveRequest:
		return fmt.Sprintf("%q", q.collective())
	case sendRequest:
		return "a send"
	}
	return "a send or a collective that is complete"
}

// collective returns the name of the call that has started a collective.
func (q *Request) collective() string {
	if b := q.c.seat.nonblocking.tickets.of(q.number); b != nil {
		return b.op
	}
	return opNames[collectiveRequest]
}

// start starts the collective whose steps record records, and executes the steps that need no waiting.
func (n *net) start(record func(n *net, via coll.Net) error) (Request, error) {
	n = n.apart()
	c, s := n.c, n.c.seat
	if err := s.nonblocking.open(s.ep); err != nil {
		op := n.op
		n.done()
		return Request{}, c.broken(op, Undefined, Undefined, err)
	}
	c.state.holds()
	b := n.plan()
	defer b.unlock()
	_ = record(n, &b.steps) // a plan only records, and returns no errors
	s.nonblocking.add(b)
	if far := b.unconnected(); far != nil {
		b.stage = stageConnecting
		go s.labels("collectives").Func(func() { b.connect(far) })()
	} else if b.advance(); b.stage == stageOver {
		c.state.giveBack(n)
		return c.over(sentRequest), nil
	}
	if c.ctx != nil && c.ctx.Done() != nil {
		turn := b.turn
		b.stop = context.AfterFunc(c.ctx, func() { b.look(turn) })
	}
	return Request{c, s.nonblocking.tickets.issue(b), operation{kind: collectiveRequest}, party{Undefined, Undefined}}, nil
}

// apart returns a net for this collective alone, unlike the one that blocking collectives share.
func (n *net) apart() *net {
	st := n.c.state
	if n != &st.first {
		return n
	}
	m := st.spare()
	m.c, m.op, m.out, m.in, m.seq, m.turn, m.set, m.given = n.c, n.op, n.out, n.in, n.seq, n.turn, n.set, n.given
	m.sent, m.received, m.rounds, m.last = 0, 0, false, notLast
	n.done()
	return m
}

// plan prepares the background for a new plan, which is empty. It returns with the lock held, because the context of an
// earlier collective may end at this moment and look at the background.
func (n *net) plan() *background {
	b := n.background
	if b == nil {
		b = &background{n: n}
		n.background = b
	}
	b.mu.Lock()
	b.op, b.turn, b.stage = n.op, n.turn, stageRunning
	b.ended.Store(false)
	b.asked.Store(false)
	b.next, b.from, b.at = 0, -1, 0
	b.steps.Net = n
	return b
}

// unconnected returns the ranks that the plan names and that are not connected yet.
func (b *background) unconnected() (far map[int]error) {
	look := func(rank int32) {
		if b.n.c.peers[rank].Load() != nil {
			return
		}
		if far == nil {
			far = map[int]error{}
		}
		far[int(rank)] = nil
	}
	for i := range b.steps.Steps {
		s := &b.steps.Steps[i]
		if s.Sends() {
			look(s.To)
		}
		if s.Receives() {
			look(s.From)
		}
	}
	return far
}

// connect connects to ranks, and starts the steps. A rank that can't be reached fails the step that needs it.
func (b *background) connect(far map[int]error) {
	b.n.c.connectWith(b.op, far)
	b.mu.Lock()
	defer b.unlock()
	b.n.missing, b.stage = far, stageRunning
	b.advance()
}

// arrived is called when a message that a collective has waited for is complete. It does not wait for the lock.
func (b *background) arrived(d *mx.Completion) {
	if !b.mu.TryLock() {
		b.notes.add(d)
		if !b.mu.TryLock() {
			return // whoever has the lock sees the note when it unlocks
		}
		b.unlock()
		return
	}
	defer b.unlock()
	b.goOn(d)
}

// goOn executes the next steps if the collective waits for this message. The lock is held.
func (b *background) goOn(d *mx.Completion) {
	if b.stage != stageSuspended || b.n.pending[b.at].r != d.Request {
		return // the collective has been given up
	}
	b.stage = stageRunning
	if b.settled(&d.Status) {
		b.advance()
	}
}

// advance executes steps until one has to wait, or all are done. The lock is held. If the operation of the program panics, the collective
// fails, and the call goes on that makes progress, since that may be a call for anything.
func (b *background) advance() {
	calm := false
	defer func() {
		if calm {
			return
		}
		failed := b.n.thrown(recover())
		b.giveUp(func() error { return failed })
	}()
	for n := b.n; b.stage == stageRunning; {
		switch {
		case b.from >= 0 && b.at < len(n.pending):
			b.await()
		case b.from >= 0:
			n.pending, b.from = n.pending[:b.from], -1
		case b.next < len(b.steps.Steps):
			b.next++
			b.take(&b.steps.Steps[b.next-1])
		default:
			b.end(nil)
		}
	}
	calm = true
}

// take executes a step. The messages that it has to wait for are in the net's list of pending operations, from b.from
// on.
func (b *background) take(s *coll.Step) {
	n, first := b.n, len(b.n.pending)
	switch {
	case s.Kind == coll.StepWaitAll:
		first = 0
	case s.Sends() && s.Receives():
		if n.sendNow(s.Out, int(s.To)) { // the receive is posted while it travels
			b.irecv(s.In, int(s.From))
		} else if b.irecv(s.In, int(s.From)) {
			b.isend(s.Out, int(s.To))
		}
	case s.Sends():
		if !n.sendNow(s.Out, int(s.To)) {
			b.isend(s.Out, int(s.To))
		}
	case s.Receives():
		b.irecv(s.In, int(s.From))
	default:
		if err := s.Work(); err != nil {
			b.giveUp(func() error { return err })
		}
		return
	}
	if s.Waits() {
		b.from, b.at = first, first
	}
}

// isend starts a send that can't be sent at once. It returns false if that has ended the collective.
func (b *background) isend(data []byte, to int) bool {
	n := b.n
	p := n.c.peers[to].Load()
	if p == nil {
		b.giveUp(func() error { return b.n.missing[to] })
		return false
	}
	r, err := n.c.seat.ep.Isend(data, p.addr, n.out, b)
	if err == nil {
		n.sent++
	}
	return b.noted(pendingOp{r, to, -1}, err)
}

// irecv starts a receive. It returns false if that has ended the collective.
func (b *background) irecv(data []byte, from int) bool {
	n, ep := b.n, b.n.c.seat.ep
	match := n.in | uint64(from)<<rankShift
	var r mx.Request
	var err error
	if p := n.c.peers[from].Load(); p != nil {
		r, err = ep.IrecvFrom(data, p.addr, match, mx.MatchMaskNone, b)
	} else if m, ok := n.c.left(match, mx.MatchMaskNone); ok {
		r, err = ep.IrecvMessage(data, m, b)
	} else {
		b.giveUp(func() error { return b.n.missing[from] })
		return false
	}
	if err == nil {
		n.received++
	}
	return b.noted(pendingOp{r, from, len(data)}, err)
}

// noted adds an operation to the pending ones, unless starting it has failed. It returns false if that has ended the
// collective.
func (b *background) noted(what pendingOp, err error) bool {
	n := b.n
	if err != nil {
		b.giveUp(func() error { return n.c.broken(b.op, what.peer, Undefined, err) })
		return false
	}
	n.pending = append(n.pending, what)
	return true
}

// await checks the message that is waited for, and suspends the collective if it is not complete.
func (b *background) await() {
	s, r := b.n.c.seat, b.n.pending[b.at].r
	st, done, err := s.ep.Look(r)
	switch {
	case done:
		b.settled(&st)
	case err != nil || b.pointless():
	default:
		if err = s.nonblocking.queue.Add(r); err == nil {
			b.stage = stageSuspended
		}
	}
	if err != nil {
		b.stops(err)
	}
}

// settled notes that the message that is waited for is complete. It returns false if that has ended the collective.
func (b *background) settled(st *mx.Status) bool {
	n := b.n
	if !n.pending[b.at].well(st) {
		b.spoilt(*st)
		return false
	}
	n.pending[b.at] = pendingOp{}
	b.at++
	return true
}

// spoilt ends the collective because a message has failed.
func (b *background) spoilt(st mx.Status) {
	what := b.remove()
	b.giveUp(func() error { return b.n.failed(what, &st) })
}

// remove removes the message that is waited for, and those that were waited for before, from the list, and returns the
// former.
func (b *background) remove() pendingOp {
	n := b.n
	r := n.pending[b.at]
	n.pending = append(n.pending[:b.from], n.pending[b.at+1:]...)
	return r
}

// stops ends the collective where it waits.
func (b *background) stops(err error) {
	what := b.remove()
	b.giveUp(func() error { return b.n.unfinished(what, err) })
}

// pointless ends the collective if waiting makes no sense any more: its context has ended, or a rank has failed.
func (b *background) pointless() bool {
	c := b.n.c
	if c.ctx != nil && c.ctx.Err() != nil && b.n.last != lastComes {
		b.stops(expired(c.ctx, c.ctx.Err()))
		return true
	}
	if dead := c.giveUp(b.n.pending[b.at].r); dead != nil {
		b.stops(dead)
		return true
	}
	return false
}

// look calls pointless for the collective of a turn, or for any if turn is 0.
func (b *background) look(turn uint64) {
	b.mu.Lock()
	defer b.unlock()
	if b.stage == stageSuspended && (turn == 0 || turn == b.turn) {
		b.pointless()
	}
}

// look makes all collectives check whether waiting still makes sense, since a rank has failed.
func (l *backgrounds) look() {
	for _, b := range l.all() {
		b.look(0)
	}
}

// giveUp ends the collective with an error. The rest may block, and so may determining the error. The lock is held.
func (b *background) giveUp(why func() error) {
	b.stage = stageFailing
	go func() {
		b.n.c.seat.labels("collectives").Set()
		err := b.n.failAs(why(), b.steps.Messages)
		b.mu.Lock()
		defer b.unlock()
		b.end(err)
	}()
}

// end ends the collective, and completes its request. The lock is held.
func (b *background) end(err error) {
	c := b.n.c
	s := c.seat
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
	b.stage, b.err, b.wait = stageOver, err, nil
	if err == nil && b.n.last == lastComes {
		s.allCame.Store(true)
	}
	b.steps.Clear()
	s.nonblocking.remove(b)
	b.n.settle()
	if c.state.ends(1) {
		s.forget(c)
	}
	b.ended.Store(true)
	if b.asked.Load() {
		b.tell(s)
	}
}

// well reports whether the collective has ended without an error.
func (b *background) well() bool {
	b.mu.Lock()
	defer b.unlock()
	return b.stage == stageOver && b.err == nil
}

// collect returns the error of a collective that has ended, and frees its net.
func (b *background) collect(st *commState) error {
	b.mu.Lock()
	err := b.err
	b.err = nil
	b.unlock()
	st.giveBack(b.n)
	return err
}

// blocked returns the wait of a suspended collective for hang reports, like that of a blocking call, or nil. It also returns the
// request of mx by which the program waits for the collective, or the zero Request if nobody has asked for one.
func (b *background) blocked() (w *longWait, asked mx.Request) {
	if !b.mu.TryLock() {
		return nil, asked
	}
	defer b.unlock()
	if b.stage != stageSuspended {
		return nil, asked
	}
	c, r := b.n.c, b.n.pending[b.at].r
	if b.wait == nil || b.wait.reqs[0] != r {
		ctx := c.ctx
		if b.n.last == lastComes {
			ctx = noContext
		}
		b.wait = &longWait{ctx: ctx, c: c, call: b.op, reqs: []mx.Request{r}, since: time.Now(), id: lastWait.Add(1)}
	}
	if b.asked.Load() {
		asked = c.seat.ep.Request(b.number)
	}
	return b.wait, asked
}
