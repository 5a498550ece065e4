package sim

import "gomx/endpoint"

// Unexpected implements endpoint.Host: it is the program's handler of unexpected messages. It calls whatever
// a handler may call, and now and then drops the message.
func (n *node) Unexpected(in *endpoint.Incoming) endpoint.Action {
	n.w.report.Handled++
	m := messageOf(in.Match)
	flow := n.w.flow(m.from, m.life, m.to)
	if flow == nil || m.to != n.index || int(m.number) >= len(flow.sent) {
		n.w.fail(n, "the handler is shown message %v, which was never sent", m)
		return endpoint.Continue
	}
	r := &flow.sent[m.number]
	if r.state&recordShown != 0 {
		n.w.fail(n, "the handler is shown message %v twice", m)
	}
	r.state |= recordShown
	if in.Data != nil || in.Length < endpoint.AlwaysEager {
		if len(in.Data) != int(in.Length) {
			n.w.fail(n, "the handler is shown %d of %d bytes of message %v", len(in.Data), in.Length, m)
		} else if err := verify(in.Data, in.Match); err != nil {
			n.w.fail(n, "the handler is shown message %v: %v", m, err)
		}
	}
	if !n.w.draining {
		n.callInside()
	}
	if n.rng.IntN(1000) >= n.w.plan.Drops {
		return endpoint.Continue
	}
	n.w.report.Dropped++
	flow.sent[m.number].state |= recordMatched | recordDropped // the call may have made it grow
	return endpoint.Finished
}

// callInside makes a call from inside the handler.
func (n *node) callInside() {
	switch n.rng.IntN(16) {
	case 0:
		n.postAhead()
	case 1:
		n.collect()
	case 2:
		n.cancel()
	case 3:
		n.connect(n.rng.IntN(len(n.peers)), false)
	case 4, 5:
		if to := n.rng.IntN(len(n.peers)); n.left > 0 && n.sends < n.w.plan.Pending && n.peers[to].connected {
			n.sendTo(to)
		}
	case 6:
		var st endpoint.Status
		if _, err := n.engine.Probe(0, 0, &st); err != nil {
			n.w.fail(n, "probe inside the handler: %v", err)
		}
	case 7:
		if n.w.plan.Partings > 0 && n.rng.IntN(200) == 0 {
			n.disconnect(n.rng.IntN(len(n.peers)))
		}
	}
}
