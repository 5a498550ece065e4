package mpi

import (
	"reflect"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// Scan combines send of the ranks up to and with this one into recv, in the order of the
// ranks (MPI_Scan). The same slice may be given twice. Errors: as Allreduce.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Scan[T any](c *Comm, send, recv []T, op Op[T]) error {
	if err := checkReduction(c, "Scan", send, recv, op); err != nil {
		return err
	}
	n := c.net("Scan")
	return n.finish(scan(n, n, send, recv, op))
}

// Iscan begins a Scan (MPI_Iscan). The buffers belong to it until the request is complete.
func Iscan[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	if err := checkReduction(c, "Iscan", send, recv, op); err != nil {
		return Request{}, err
	}
	n := c.net("Iscan")
	return n.start(func(n *net, via coll.Net) error { return scan(n, via, send, recv, op) })
}

// Exscan combines send of the ranks below this one into recv, in the order of the ranks
// (MPI_Exscan). recv of rank 0 stays as it is. The same slice may be given twice. Errors: as
// Allreduce.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Exscan[T any](c *Comm, send, recv []T, op Op[T]) error {
	if err := checkReduction(c, "Exscan", send, recv, op); err != nil {
		return err
	}
	n := c.net("Exscan")
	return n.finish(exscan(n, n, send, recv, op))
}

// Iexscan begins an Exscan (MPI_Iexscan). The buffers belong to it until the request is complete.
func Iexscan[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	if err := checkReduction(c, "Iexscan", send, recv, op); err != nil {
		return Request{}, err
	}
	n := c.net("Iexscan")
	return n.start(func(n *net, via coll.Net) error { return exscan(n, via, send, recv, op) })
}

func scan[T any](n *net, via coll.Net, send, recv []T, op Op[T]) error {
	a := n.choose(coll.KindScan, len(send)*elem.Size[T](), true)
	err := agreeOnScan(n, via, coll.KindScan, send, op)
	return combine(n, err, via, send, recv, op, func(via coll.Net, send, recv []T, op func(acc, in []T)) error {
		return coll.Scan(via, send, recv, op, a)
	})
}

func exscan[T any](n *net, via coll.Net, send, recv []T, op Op[T]) error {
	a := n.choose(coll.KindExscan, len(send)*elem.Size[T](), true)
	err := agreeOnScan(n, via, coll.KindExscan, send, op)
	return combine(n, err, via, send, recv, op, func(via coll.Net, send, recv []T, op func(acc, in []T)) error {
		return coll.Exscan(via, send, recv, op, a)
	})
}

func agreeOnScan[T any](n *net, via coll.Net, k coll.Kind, send []T, op Op[T]) error {
	if !n.checked() {
		return nil
	}
	return n.agree(via, deed{kind: k, element: reflect.TypeFor[T](), count: len(send), op: nameOf(op)})
}
