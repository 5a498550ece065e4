package mpi

import "gomx/mpi/internal/coll"

// Barrier returns when all ranks of the communicator have called it (MPI_Barrier).
func (c *Comm) Barrier() error {
	if !c.meets() {
		if err := c.usable("Barrier"); err != nil {
			return err
		}
	}
	n := c.net("Barrier")
	return n.finish(n.barrier(n))
}

// Ibarrier starts a barrier, which is complete when all ranks have started it (MPI_Ibarrier).
func (c *Comm) Ibarrier() (Request, error) {
	if err := c.usable("Ibarrier"); err != nil {
		return Request{}, err
	}
	n := c.net("Ibarrier")
	return n.start((*net).barrier)
}

func (n *net) barrier(via coll.Net) error { return n.meet(via, n.choose(coll.KindBarrier, 0, true)) }

// meet waits until all ranks have come, by the algorithm of a barrier.
func (n *net) meet(via coll.Net, a coll.Algorithm) error {
	err := n.agreeToMeet(via)
	if err == nil {
		err = coll.Barrier(via, a)
	}
	if err == nil {
		return nil
	}
	return n.fail(err, func(rest coll.Net) error { return coll.Barrier(rest, a) })
}

// agreeToMeet finds out in checked mode whether all ranks have come to meet.
func (n *net) agreeToMeet(via coll.Net) error {
	if !n.checked() {
		return nil
	}
	return n.agree(via, deed{kind: coll.KindBarrier})
}
