package mpi

import "gomx/mx"

// begun is a message of a collective that is waited for later.
type begun struct {
	r     mx.Request
	peer  int
	bytes int // that must come; sending for a message that goes
}

const sending = -1

// Isend begins to send b, which stays as it is until WaitAll.
func (n *net) Isend(b []byte, to int) error {
	if p := n.c.peers[to].Load(); p != nil && n.c.seat.ep.SendNow(b, p.addr, n.bits) {
		return nil
	}
	r, err := n.isend(b, to)
	if err == nil {
		n.begun = append(n.begun, begun{r, to, sending})
	}
	return err
}

// Irecv begins to receive the next message of a rank into b, which it must fill.
func (n *net) Irecv(b []byte, from int) error {
	r, err := n.irecv(b, from)
	if err == nil {
		n.begun = append(n.begun, begun{r, from, len(b)})
	}
	return err
}

// WaitAll waits for what Isend and Irecv have begun.
func (n *net) WaitAll() error {
	for i, m := range n.begun {
		var err error
		if m.bytes == sending {
			err = n.sent(m.r, m.peer)
		} else {
			err = n.received(m.r, m.bytes, m.peer)
		}
		if err != nil {
			n.begun = n.begun[i+1:]
			return err
		}
	}
	n.begun = n.begun[:0]
	return nil
}

// abandon lets go of what an error has left under way.
func (n *net) abandon() {
	for _, m := range n.begun {
		if m.bytes == sending {
			n.letGo(m.r)
		} else {
			n.takeBack(m.r)
		}
	}
	n.begun = nil
}

// letGo leaves a send to itself.
func (n *net) letGo(r mx.Request) { _ = n.c.seat.ep.Forget(r) }

// takeBack ends a receive, so that what comes late is not written into the program's memory.
func (n *net) takeBack(r mx.Request) {
	if cancelled, err := n.c.seat.ep.Cancel(r); err == nil && !cancelled {
		_ = n.c.seat.ep.Forget(r)
	}
}
