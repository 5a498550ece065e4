package sim

import (
	"gomx/endpoint"
)

// receive posts receives ahead of the messages, and some for what has arrived
// already. It reports whether anything had arrived.
func (n *node) receive() (any bool) {
	p := &n.w.plan
	if n.wantsLast() {
		return false
	}
	for n.receives < p.Posted && !n.w.draining {
		n.postAhead()
	}
	if p.Posted > 0 && n.receives >= p.Posted && n.rng.IntN(8) == 0 {
		n.cancel() // or receives that will never match would take all the places
	}
	looks := 1 + n.rng.IntN(2*p.Burst)
	if n.w.draining {
		looks = 1000
	}
	for range looks {
		var st endpoint.Status
		value, mask := uint64(0), uint64(0)
		if n.rng.IntN(4) == 0 && !n.w.draining {
			value, mask = uint64(n.rng.IntN(classes))<<60, maskClass
		}
		found, err := n.engine.Probe(value, mask, &st)
		if err != nil {
			n.w.fail(n, "probe: %v", err)
		}
		if !found {
			break
		}
		any = true
		n.postFor(&st)
	}
	return any
}

// wantsLast reports whether the program waits for the last message of a peer before it receives any other.
func (n *node) wantsLast() bool {
	w := n.w
	if !w.plan.LastFirst || !w.draining || n.index >= w.plan.Absent {
		return false
	}
	if n.asked {
		return !n.got
	}
	n.asked, n.got = true, true
	for from, sender := range w.nodes {
		last := len(sender.flows[n.index].sent) - 1
		if from == n.index || last < 0 || sender.flows[n.index].sent[last].state&recordMatched != 0 {
			continue
		}
		m, size := w.plan.message(from, sender.life, n.index, uint32(last))
		o := w.newOp(n, opReceive)
		o.value, o.mask, o.scope, o.last = m.match(), maskAll, scopeOne, true
		n.got = false
		n.post(o, size)
		return true
	}
	return false
}

// postAhead posts a receive for what may come.
func (n *node) postAhead() {
	class := n.likelyClass()
	o := n.w.newOp(n, opReceive)
	from := n.rng.IntN(len(n.peers))
	switch roll := n.rng.IntN(100); {
	case roll < n.w.plan.Early:
		sender := n.w.nodes[from]
		f := &sender.flows[n.index]
		m, _ := n.w.plan.message(from, sender.life, n.index, uint32(len(f.sent)+n.rng.IntN(4)))
		class, o.value, o.mask, o.scope = m.class, m.match(), maskAll, scopeOne
	case roll < 60:
		o.value, o.mask, o.scope = uint64(class)<<60, maskClass, scopeClass
	case roll < 80:
		o.value, o.mask, o.scope = uint64(class)<<60|uint64(from)<<38, maskClass|maskFrom, scopeClass
	case roll < 90:
		o.value, o.mask, o.scope = uint64(from)<<38, maskFrom, scopeAll
	default:
		o.scope = scopeAll
	}
	if o.scope == scopeAll {
		class = n.widest()
	}
	size := classSizes[class]
	if n.rng.IntN(100) < n.w.plan.Short {
		size = n.rng.IntN(size + 1)
	}
	n.post(o, size)
}

// postFor posts a receive for a message that has been probed. It may match an
// older one, if it is wide.
func (n *node) postFor(st *endpoint.Status) {
	o := n.w.newOp(n, opReceive)
	size := int(st.MsgLength)
	switch n.rng.IntN(4) {
	case 0:
		o.value, o.mask, o.scope = st.Match, maskAll, scopeOne
	case 1:
		o.value, o.mask, o.scope = st.Match&(maskClass|maskSender), maskClass|maskSender, scopeClass
		size = classSizes[messageOf(st.Match).class%classes]
	default:
		o.scope = scopeAll
	}
	if n.rng.IntN(100) < n.w.plan.Short {
		size = n.rng.IntN(size + 1)
	}
	n.post(o, size)
}

func (n *node) post(o *op, size int) {
	if n.postMulti(o) {
		return
	}
	n.posts++
	n.receives++
	o.post = n.posts
	o.buffer = n.w.buffers.take(size)
	var err error
	v := o.buffer.segments(n.cuts())
	i, opts := endpoint.Posting{First: v.First, Value: o.value, Mask: o.mask, Context: o}, endpoint.RecvOptions{Rest: v.Rest}
	if from := n.directed(o); from != (endpoint.Addr{}) {
		i.Value, i.Mask, opts.From = o.value&^maskFrom, o.mask&^maskFrom, from
		o.handle, err = n.engine.RecvDirected(&i, &opts)
	} else {
		o.handle, err = n.engine.Recv(&i, &opts)
	}
	if err != nil {
		n.w.fail(n, "receive: %v", err)
		return
	}
	n.choose(o)
}

// directed returns the sender that a receive is for, if the engine is to see to that and not the mask.
func (n *node) directed(o *op) endpoint.Addr {
	if !n.w.plan.Directed || o.post%2 == 0 || o.mask&maskFrom != maskFrom {
		return endpoint.Addr{}
	}
	return n.peers[o.value&maskFrom>>38].addr
}

// likelyClass draws a size class as messages do.
func (n *node) likelyClass() int {
	sum, class := 0, 0
	for _, w := range n.w.plan.Weights {
		sum += w
	}
	for roll := n.rng.IntN(sum); roll >= n.w.plan.Weights[class]; class++ {
		roll -= n.w.plan.Weights[class]
	}
	return class
}

// widest returns the largest size class in use.
func (n *node) widest() int {
	for class := classes - 1; class > 0; class-- {
		if n.w.plan.Weights[class] > 0 {
			return class
		}
	}
	return 0
}

// cancel tries to take back one of the requests under way.
func (n *node) cancel() {
	if len(n.ops) > 0 {
		n.cancelOp(n.ops[n.rng.IntN(len(n.ops))])
	}
}

// cancelOp takes a request back if that is possible: a receive that has not
// matched, or a connect.
func (n *node) cancelOp(o *op) {
	if o.handle == 0 {
		return // the handler runs inside of the call that makes it
	}
	gone, err := n.engine.Cancel(o.handle)
	switch {
	case o.triggered && gone && err == nil:
		n.takenBack(o)
		n.ended(o)
	case !o.cancels() && err != endpoint.ErrCancelSend:
		n.w.fail(n, "cancel of a send, put or get gives %v, %v", gone, err)
	case o.cancels() && err != nil:
		n.w.fail(n, "cancel: %v", err)
	case gone:
		n.w.report.Cancelled++
		if o.kind == opConnect && o.peer < n.w.plan.Passive {
			n.w.spoil(n.index, o.peer) // it may have been accepted
		}
		n.ended(o)
	}
}

// cancels reports whether requests of the kind can be cancelled.
func (o *op) cancels() bool { return o.kind == opReceive || o.kind == opConnect }

// part disconnects from a peer.
func (n *node) part(from int) {
	n.enter()
	n.disconnect(from)
	n.flush()
}

func (n *node) disconnect(from int) {
	addr, ok := n.engine.AddrOf(n.engine.PeerOf(nicOf(from), 0))
	if !ok || from == n.index {
		return
	}
	n.w.spoil(n.index, from)
	if err := n.engine.Disconnect(addr); err != nil {
		n.w.fail(n, "disconnect: %v", err)
	}
	n.peers[from].connected = false
}
