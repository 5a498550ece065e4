package mpi

import (
	"reflect"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// ReduceScatter combines send of all ranks, and leaves each rank its part of the result in
// recv: counts[rank] elements, the parts lying in send one behind the other (MPI_Reduce_scatter). counts is
// the same at all ranks. recv may lie in send. Errors: ErrComm, ErrType, ErrOp, ErrCount, ErrProcFailed.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func ReduceScatter[T any](c *Comm, send, recv []T, counts []int, op Op[T]) error {
	n, err := beginReduceScatter(c, "ReduceScatter", send, recv, counts, op)
	if err != nil {
		return err
	}
	return n.finish(reduceScatter(n, n, send, recv, counts, op))
}

// IreduceScatter begins a ReduceScatter (MPI_Ireduce_scatter). The buffers belong to it until the request is
// complete, and so does counts.
func IreduceScatter[T any](c *Comm, send, recv []T, counts []int, op Op[T]) (Request, error) {
	n, err := beginReduceScatter(c, "IreduceScatter", send, recv, counts, op)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return reduceScatter(n, via, send, recv, counts, op) })
}

// ReduceScatterBlock is ReduceScatter with parts of the length of recv
// (MPI_Reduce_scatter_block).
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func ReduceScatterBlock[T any](c *Comm, send, recv []T, op Op[T]) error {
	n, err := beginReduceScatter(c, "ReduceScatterBlock", send, recv, nil, op)
	if err != nil {
		return err
	}
	return n.finish(reduceScatter(n, n, send, recv, nil, op))
}

// IreduceScatterBlock begins a ReduceScatterBlock (MPI_Ireduce_scatter_block). The buffers belong to it
// until the request is complete.
func IreduceScatterBlock[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	n, err := beginReduceScatter(c, "IreduceScatterBlock", send, recv, nil, op)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return reduceScatter(n, via, send, recv, nil, op) })
}

func beginReduceScatter[T any](c *Comm, name string, send, recv []T, counts []int, op Op[T]) (*net, error) {
	if _, err := collectiveBytes(c, name, send); err != nil {
		return nil, err
	}
	if err := checkOp(c, name, op); err != nil {
		return nil, err
	}
	total, own := len(recv)*len(c.peers), len(recv)
	if counts != nil {
		if err := c.checkCounts(name, "send", counts, nil, len(send)); err != nil {
			return nil, err
		}
		total, own = 0, counts[c.rank]
		for _, n := range counts {
			total += n
		}
	}
	if err := c.checkLengths(name, "send", len(send), total, "it has the parts of all ranks"); err != nil {
		return nil, err
	}
	if err := c.checkLengths(name, "recv", len(recv), own, "that is the count of this rank"); err != nil {
		return nil, err
	}
	return c.net(name), nil
}

func reduceScatter[T any](n *net, via coll.Net, send, recv []T, counts []int, op Op[T]) error {
	unit := elem.Size[T]()
	p := partsOf(len(recv)*unit, counts, nil, unit, counts == nil)
	a := n.choose(coll.KindReduceScatter, len(send)*unit, counts == nil)
	var err error
	if n.checked() {
		d := deed{kind: coll.KindReduceScatter, element: reflect.TypeFor[T](), count: len(send), op: nameOf(op), counts: counts}
		err = n.agree(via, d)
	}
	return combine(n, err, via, send, recv, op, func(via coll.Net, send, recv []T, op func(acc, in []T)) error {
		return coll.ReduceScatter(via, send, recv, p, op, a)
	})
}
