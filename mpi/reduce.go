package mpi

import (
	"reflect"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// Reduce combines send of all ranks, of the same length, into recv of the root, in the order
// of the ranks (MPI_Reduce). recv of the others is not used and may be nil. The root may give
// the same slice twice. Errors: ErrComm, ErrRoot, ErrType, ErrOp, ErrCount, ErrArg for buffers that overlap
// otherwise, ErrProcFailed.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Reduce[T any](c *Comm, send, recv []T, op Op[T], root int) error {
	n, err := beginReduce(c, "Reduce", send, recv, op, root)
	if err != nil {
		return err
	}
	return n.finish(reduce(n, n, send, recv, op, root))
}

// Ireduce begins a Reduce (MPI_Ireduce). The buffers belong to it until the request is complete.
func Ireduce[T any](c *Comm, send, recv []T, op Op[T], root int) (Request, error) {
	n, err := beginReduce(c, "Ireduce", send, recv, op, root)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return reduce(n, via, send, recv, op, root) })
}

func beginReduce[T any](c *Comm, name string, send, recv []T, op Op[T], root int) (*net, error) {
	if !c.meets() {
		if err := c.usable(name); err != nil {
			return nil, err
		}
	}
	if err := c.checkRoot(name, root); err != nil {
		return nil, err
	}
	if c.rank != root {
		recv = send
	}
	if err := checkReduction(c, name, send, recv, op); err != nil {
		return nil, err
	}
	return c.net(name), nil
}

// checkReduction returns what is wrong with the arguments of a reduction that has a result of the
// same length.
func checkReduction[T any](c *Comm, name string, send, recv []T, op Op[T]) error {
	from, err := collectiveBytes(c, name, send)
	if err != nil {
		return err
	}
	if op == nil {
		return checkOp(c, name, op)
	}
	if len(recv) != len(send) {
		return c.checkLengths(name, "recv", len(recv), len(send), "it takes as many as send has")
	}
	if !elem.Same(send, recv) {
		return c.checkApart(name, from, elem.Memory(recv))
	}
	return nil
}

func reduce[T any](n *net, via coll.Net, send, recv []T, op Op[T], root int) error {
	unit := elem.Size[T]()
	a := n.choose(coll.KindReduce, len(send)*unit, true)
	var err error
	if n.checked() {
		err = n.agree(via, deed{kind: coll.KindReduce, root: root, element: reflect.TypeFor[T](), count: len(send), op: nameOf(op)})
	}
	return combine(n, err, via, send, recv, op, func(via coll.Net, send, recv []T, op func(acc, in []T)) error {
		return coll.Reduce(via, send, recv, root, op, a)
	})
}

// Allreduce combines send of all ranks, of the same length, into recv of all, in the order
// of the ranks (MPI_Allreduce). The same slice may be given twice. Errors: ErrComm, ErrType, ErrOp,
// ErrCount, ErrArg for buffers that overlap otherwise, ErrProcFailed.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Allreduce[T any](c *Comm, send, recv []T, op Op[T]) error {
	if err := checkReduction(c, "Allreduce", send, recv, op); err != nil {
		return err
	}
	n := c.net("Allreduce")
	return n.finish(allreduce(n, n, send, recv, op))
}

// Iallreduce begins an Allreduce (MPI_Iallreduce). The buffers belong to it until the request is
// complete.
func Iallreduce[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	if err := checkReduction(c, "Iallreduce", send, recv, op); err != nil {
		return Request{}, err
	}
	n := c.net("Iallreduce")
	return n.start(func(n *net, via coll.Net) error { return allreduce(n, via, send, recv, op) })
}

func allreduce[T any](n *net, via coll.Net, send, recv []T, op Op[T]) error {
	unit := elem.Size[T]()
	a := n.choose(coll.KindAllreduce, len(send)*unit, true)
	var err error
	if n.checked() {
		err = n.agree(via, deed{kind: coll.KindAllreduce, element: reflect.TypeFor[T](), count: len(send), op: nameOf(op)})
	}
	return combine(n, err, via, send, recv, op, func(via coll.Net, send, recv []T, op func(acc, in []T)) error {
		return coll.Allreduce(via, send, recv, op, a)
	})
}
