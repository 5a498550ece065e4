package endpoint

import "gomx/transport/wire"

// An engine may be one of several contexts of an endpoint, which share nothing but the address: each has its own
// matching, sessions and progress. The engines say in each connect which contexts there are, and their owner connects
// with as many of those of a peer as it wants.

// ContextsOf returns what a peer has said of its contexts when the present or the last session began; of the engine itself
// what Config says. False: the address is not one of this engine's.
func (e *Engine) ContextsOf(of Addr) (wire.Contexts, bool) {
	switch {
	case !e.known(of):
		return wire.Contexts{}, false
	case of.Peer == 0:
		return e.cfg.Contexts, true
	}
	return e.peers[of.Peer].contexts, true
}

// ContextsOfPeer is ContextsOf of the peer with the number i, below Peers.
func (e *Engine) ContextsOfPeer(i int32) wire.Contexts {
	if i == 0 {
		return e.cfg.Contexts
	}
	return e.peers[i].contexts
}

// ConnectedWith returns the address of an endpoint, if there is a session with it.
func (e *Engine) ConnectedWith(nic uint64, endpoint uint32) (Addr, bool) {
	i, ok := e.byAddr[address{nic, endpoint}]
	if !ok || e.peers[i].state != peerConnected {
		return Addr{}, false
	}
	return e.AddrOf(i)
}
