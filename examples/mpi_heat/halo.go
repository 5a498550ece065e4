package main

import "gomx/mpi"

// halo is one of the four sides of a rectangle: which rank is there, where my cells along it
// begin, where the frame's cells begin, and how both lie in memory.
type halo struct {
	rank        int // mpi.ProcNull at the edge of the plate: what is sent there goes nowhere
	edge, frame int
	layout      mpi.Layout
}

// neighbours are those above, below, to the left and to the right. A row lies in one piece; the
// cells of a column are a row apart.
func (p *plate) neighbours() (sides [4]halo, err error) {
	row, column := mpi.Contiguous(p.width), mpi.Vector(p.height, 1, p.stride)
	first, last := p.stride+1, p.height*p.stride+1
	above, below, err := p.cart.Shift(0, 1)
	if err != nil {
		return sides, err
	}
	before, after, err := p.cart.Shift(1, 1)
	return [4]halo{
		{above, first, first - p.stride, row},
		{below, last, last + p.stride, row},
		{before, first, first - 1, column},
		{after, first + p.width - 1, first + p.width, column},
	}, err
}

// startExchange begins to send the cells at all sides and to receive the frame. Messages to one
// side have that side's number as tag, and come in at the opposite one.
func (p *plate) startExchange() (err error) {
	for side, h := range p.halos {
		opposite := side ^ 1
		if p.requests[side], err = mpi.IrecvLayout(p.cart.Comm, p.now[h.frame:], h.layout, h.rank, opposite); err != nil {
			return err
		}
	}
	for side, h := range p.halos {
		if p.requests[4+side], err = mpi.IsendLayout(p.cart.Comm, p.now[h.edge:], h.layout, h.rank, side); err != nil {
			return err
		}
	}
	return nil
}
