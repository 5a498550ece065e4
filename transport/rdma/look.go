package rdma

import "net/netip"

// PortState is a port, and how an endpoint would use it.
type PortState struct {
	Port
	GID GID    // the one to use; the zero GID if there is none
	Why string // in words, why it is this one

	// Unusable says in words why an endpoint can't use the port; "" if it can.
	Unusable string
}

// Look returns all ports of this machine, and how each would be used. Board returns
// the addresses of the board that a port belongs to, if it belongs to one. Unlike
// Available it tries every port. It may be called concurrently.
func Look(board func(p *Port) []netip.Addr) ([]PortState, error) {
	ports, err := Ports()
	if len(ports) == 0 {
		return nil, err
	}
	unusable := inspector()
	list := make([]PortState, len(ports))
	for i := range ports {
		p := &ports[i]
		s := PortState{Port: *p, Unusable: unusable(p)}
		if gid, why, err := p.Choose(board(p)); err == nil {
			s.GID, s.Why = gid, why
		}
		list[i] = s
	}
	return list, err
}
