package mpi

// Finalize ends the rank's part in the job, after all ranks have come here
// (MPI_Finalize): what was sent before has been received, or waits at its receiver. Calls
// after it return ErrFinalized. Errors: ErrFinalized the second time, what ends a
// collective, and what has become of a Bsend.
func (c *Comm) Finalize() error {
	if err := c.usable("Finalize"); err != nil {
		return err
	}
	s := c.seat
	world := c
	if c.state.context != worldContext {
		return c.fail("Finalize", ErrComm, "it ends the world: call it on the world's communicator")
	}
	s.dropFreed() // somebody may wait for that
	if err := world.awaitCopies("Finalize"); err != nil {
		return err
	}
	if err := world.meet("Finalize"); err != nil {
		return err
	}
	if s.finalized.Swap(true) {
		return c.fail("Finalize", ErrFinalized, "rank %d of the world has called it before", s.rank)
	}
	if s.job.launch == nil {
		return s.ep.Close() // the process has other ranks
	}
	s.job.takeLeave()
	s.job.close()
	leaveLibrary()
	if err := s.job.launch.Finalize(); err != nil {
		return c.fail("Finalize", ErrLaunch, "%w", err)
	}
	return nil
}

// meet waits until all ranks have come. They tell it up a tree, and are told down the same
// tree: nobody leaves before those who still have to connect with it.
func (c *Comm) meet(op string) error {
	n := c.net(op)
	defer n.done()
	child := 1
	for ; c.rank&child == 0 && c.rank+child < c.Size(); child *= 2 {
		if err := n.Recv(nil, c.rank+child); err != nil {
			return err
		}
	}
	if c.rank != 0 {
		parent := c.rank & (c.rank - 1)
		if err := n.Send(nil, parent); err != nil {
			return err
		}
		if err := n.Recv(nil, parent); err != nil {
			return err
		}
	}
	for child /= 2; child > 0; child /= 2 {
		if err := n.Send(nil, c.rank+child); err != nil {
			return err
		}
	}
	return nil
}
