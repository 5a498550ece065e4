package endpoint

import "gomx/transport/wire"

// Write is a small put that is over for its initiator when it has left: there is no
// request, and the peer answers nothing, also if it refuses. It counts there among
// those that no window permits. False: the bytes can't leave now, or never in one
// frame, and the caller may Put them.
func (e *Engine) Write(b []byte, to Addr, window uint64, at uint32) (bool, error) {
	if !e.known(to) {
		return false, ErrBadAddress
	}
	p := e.peers[to.Peer]
	if to.Session != p.remote {
		return false, nil
	}
	if e.local(p) {
		e.writeSelf(p, b, window, at)
		return true, nil
	}
	h := &e.header
	h.Kind, h.Flags, h.Length, h.Match = wire.Put, wire.HasRange, uint32(len(b)), window
	h.Total, h.Offset = uint32(len(b)), at
	e.one.First = b
	if e.recorder != nil {
		e.recorder.begin()
	}
	if len(b) <= p.fast {
		h.Seq, h.Session = p.sendSeq, to.Session
		if !p.link.Send(h, &e.one, 0) {
			return false, nil
		}
		p.sendSeq++
	} else if !p.mayWrite() || len(b) > p.eagerLimit(e.cfg.EagerLimit) || !e.post(p, h, &e.one, 0) {
		return false, nil
	}
	p.medium.Puts++
	p.medium.BytesSent += uint64(len(b))
	if e.recorder != nil {
		e.recorder.access(EventPut, p, window, at, uint32(len(b)), 0)
	}
	return true, nil
}

// mayWrite reports whether a frame would leave at once, behind no other.
func (p *peer) mayWrite() bool {
	return p.state == peerConnected && p.link != nil && !p.vigil.givenUp && !p.mute() &&
		p.queue.head == none && p.greetings.len() == 0
}

// writeSelf writes to a window of our own.
func (e *Engine) writeSelf(p *peer, b []byte, window uint64, at uint32) {
	p.medium.Puts++
	mem, disposition := e.reach(p, window, at, uint32(len(b)), MayWrite)
	if disposition == wire.Taken {
		copy(mem, b)
		e.used(e.windows.at(window), true)
		p.medium.PutsServed++
		p.medium.BytesSent += uint64(len(b))
		p.medium.BytesReceived += uint64(len(b))
	}
	if e.recorder != nil {
		e.recorder.ownAccess(EventPut, EventPutServed, p, window, at, uint32(len(b)), 0, disposition == wire.Taken)
	}
}

// WindowUse returns how many puts have been written to a window, and how many gets
// read from it, since it was opened. Those of a window that is not open are not known.
func (e *Engine) WindowUse(id uint64) (puts, gets uint64) {
	if w := e.windows.at(id); w != nil {
		return w.puts, w.gets
	}
	return 0, 0
}
