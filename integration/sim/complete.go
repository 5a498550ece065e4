package sim

import (
	"fmt"

	"gomx/endpoint"
)

// completed checks what a request that has been collected says, and notes it. A message is that of a multi-receive, which goes on.
func (n *node) completed(h endpoint.Handle, message []byte, st *endpoint.Status) {
	o, ok := st.Context.(*op)
	if !ok || !o.live || o.handle != h {
		n.w.fail(n, "a request completes twice, or was never made: %+v", *st)
		return
	}
	n.w.report.Completed++
	if message != nil {
		if err := n.receivedPart(o, message, st); err != nil {
			n.w.fail(n, "%v", err)
		}
		return
	}
	var err error
	switch o.kind {
	case opSend:
		err = n.sent(o, st)
	case opReceive:
		err = n.received(o, st)
	case opConnect:
		err = n.joined(o, st)
	case opPut, opGet:
		err = n.accessed(o, st)
	case opAtomic:
		err = n.added(o, st)
	}
	if err != nil {
		n.w.fail(n, "%v", err)
	}
	n.ended(o)
}

// ended lets go of a request that is over.
func (n *node) ended(o *op) {
	switch o.kind {
	case opSend:
		n.sends--
	case opReceive:
		n.receives--
		n.got = n.got || o.last
	case opConnect:
		n.peers[o.peer].connecting = false
	}
	n.w.buffers.give(o.buffer)
	o.buffer = buffer{}
	o.live = false
	last := len(n.ops) - 1
	n.ops[o.place] = n.ops[last]
	n.ops[o.place].place = o.place
	n.ops = n.ops[:last]
	n.w.freeOps = append(n.w.freeOps, o)
}

// endings are the statuses that a request may get when its session ends.
var endings = [...]bool{
	endpoint.TimedOut: true, endpoint.EndpointClosed: true, endpoint.EndpointUnreachable: true,
	endpoint.BadSession: true, endpoint.Aborted: true, 16: false,
}

func (n *node) sent(o *op, st *endpoint.Status) error {
	r := &n.flows[o.peer].sent[o.message.number]
	r.state |= recordEnded
	r.code = st.Code
	if st.Match != o.message.match() || int(st.MsgLength) != o.size {
		return fmt.Errorf("send of message %v gets the status %+v", o.message, *st)
	}
	switch xfer := int(st.XferLength); {
	case st.Code == endpoint.Success:
		if xfer != o.size {
			return fmt.Errorf("send of message %v: success with %d of %d bytes", o.message, xfer, o.size)
		}
		if o.level == endpoint.Acknowledged {
			n.w.report.Acked++
		}
		if o.level == endpoint.Acknowledged && o.peer != n.index && r.state&recordArrived == 0 {
			return fmt.Errorf("send of message %v is acknowledged, but nothing of it has arrived", o.message)
		}
	case st.Code == endpoint.Truncated:
		if o.level != endpoint.Matched && r.state&recordDropped == 0 || xfer >= o.size {
			return fmt.Errorf("send of message %v: truncated with %d of %d bytes", o.message, xfer, o.size)
		}
	case !n.w.spoiled(n.index, o.peer) || int(st.Code) >= len(endings) || !endings[st.Code]:
		return fmt.Errorf("send of message %v: %v without reason", o.message, st.Code)
	default:
		n.w.report.Failed++
		if at := &n.peers[o.peer]; at.addr == st.Source {
			at.connected = false
		}
	}
	return nil
}

func (n *node) received(o *op, st *endpoint.Status) error {
	if o.multi {
		return o.buffer.guarded()
	}
	return n.receivedAt(o, o.buffer.bytes(), o.buffer.size, o.post, o.scope, st)
}

// receivedAt checks a message that lies at the beginning of b, where there was so much room, and that a receive of that number has got.
func (n *node) receivedAt(o *op, b []byte, room int, post uint32, s scope, st *endpoint.Status) error {
	m := messageOf(st.Match)
	if err := o.buffer.guarded(); err != nil {
		return fmt.Errorf("receive of message %v: %w", m, err)
	}
	if m.from >= len(n.w.nodes) || m.class >= classes || m.to != n.index || st.Match&o.mask != o.value {
		return fmt.Errorf("receive %#x under %#x gets message %v", o.value, o.mask, m)
	}
	want, size := n.w.plan.message(m.from, m.life, m.to, m.number)
	if want != m || int(st.MsgLength) != size {
		return fmt.Errorf("receive of message %v: %d bytes, want %v with %d", m, st.MsgLength, want, size)
	}
	ok := st.Code == endpoint.Success || st.Code == endpoint.Truncated
	flow := n.w.flow(m.from, m.life, m.to)
	if flow == nil {
		return fmt.Errorf("message %v of a life that never was", m)
	}
	if err := flow.matched(m, post, s, !ok); err != nil {
		return err
	}
	if nic, _, known := n.engine.Locate(st.Source); !known || nic != nicOf(m.from) {
		return fmt.Errorf("message %v comes from NIC %#x", m, nic)
	}
	if !ok {
		n.w.report.Failed++
		if !n.w.spoiled(n.index, m.from) || int(st.Code) >= len(endings) || !endings[st.Code] {
			return fmt.Errorf("receive of message %v: %v without reason", m, st.Code)
		}
		return nil
	}
	if int(st.XferLength) != min(size, room) || (st.Code == endpoint.Truncated) != (room < size) {
		return fmt.Errorf("receive of message %v: %v, %d of %d bytes into %d", m, st.Code, st.XferLength, size, room)
	}
	n.w.report.Delivered++
	n.w.report.Bytes += int(st.XferLength)
	if err := verify(b[:st.XferLength], st.Match); err != nil {
		return fmt.Errorf("receive of message %v: %w", m, err)
	}
	return nil
}

func (n *node) joined(o *op, st *endpoint.Status) error {
	at := &n.peers[o.peer]
	at.next = n.w.net.Now() + connectWait
	if err := n.answered(o, st); err != nil {
		return err
	}
	switch {
	case o.wrong && st.Code == endpoint.BadKey:
	case o.wrong && st.Code == endpoint.Success:
		return fmt.Errorf("connect to %d succeeds with a wrong filter", o.peer)
	case st.Code == endpoint.Success:
		n.w.report.Connects++
		at.addr, at.connected, at.next = st.Source, true, 0
		return n.knowsContexts(o.peer)
	case st.Code == endpoint.Rejected && o.peer < n.w.plan.Passive && n.w.plan.Rejects > 0:
	case st.Code == endpoint.BacklogFull && o.peer < n.w.plan.Passive && o.peer%2 == 0 && n.w.plan.Engine.Backlog > 0:
	case st.Code == endpoint.NoResources && n.w.spoiled(n.index, o.peer): // what a former session has left fills the peer's share
	case !n.w.mayFail(n.index, o.peer) || int(st.Code) >= len(endings) || !endings[st.Code]:
		return fmt.Errorf("connect to %d: %v without reason", o.peer, st.Code)
	}
	return nil
}
