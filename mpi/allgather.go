package mpi

import (
	"reflect"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// Allgather collects send of all ranks, of the same length, in recv of all ranks, in the order
// of the ranks (MPI_Allgather). send may be the rank's part of recv, or recv itself if that already has the
// part. Errors: ErrComm, ErrType, ErrCount, ErrArg for buffers that overlap otherwise, ErrProcFailed.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Allgather[T any](c *Comm, send, recv []T) error {
	var g gathering
	n, err := beginAllgather(c, "Allgather", send, recv, nil, nil, true, &g)
	if err != nil {
		return err
	}
	return n.finish(n.allgather(n, &g))
}

// Iallgather begins an Allgather (MPI_Iallgather). The buffers belong to it until the request is
// complete.
func Iallgather[T any](c *Comm, send, recv []T) (Request, error) {
	return startAllgather(c, "Iallgather", send, recv, nil, nil, true)
}

// Allgatherv is Allgather of lengths that differ: recv takes counts[i] elements of rank i, which go to
// displs[i], or one behind the other if displs is nil (MPI_Allgatherv). counts is the same at all ranks. Parts
// must not overlap.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Allgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	var g gathering
	n, err := beginAllgather(c, "Allgatherv", send, recv, counts, displs, false, &g)
	if err != nil {
		return err
	}
	return n.finish(n.allgather(n, &g))
}

// Iallgatherv begins an Allgatherv (MPI_Iallgatherv). All slices belong to it until the request is
// complete.
func Iallgatherv[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	return startAllgather(c, "Iallgatherv", send, recv, counts, displs, false)
}

func startAllgather[T any](c *Comm, op string, send, recv []T, counts, displs []int, alike bool) (Request, error) {
	var g gathering
	n, err := beginAllgather(c, op, send, recv, counts, displs, alike, &g)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return n.allgather(via, &g) })
}

func beginAllgather[T any](c *Comm, op string, send, recv []T, counts, displs []int, alike bool, g *gathering) (*net, error) {
	own, err := collectiveBytes(c, op, send)
	if err != nil {
		return nil, err
	}
	g.describe(own, 0, elem.Size[T](), reflect.TypeFor[T](), counts, alike)
	if err := g.place(c, op, "recv", elem.Memory(recv), displs); err != nil {
		return nil, err
	}
	return c.net(op), nil
}

func (n *net) allgather(via coll.Net, g *gathering) error {
	bytes := len(g.own)
	if !g.alike { // the choice must be the same everywhere
		bytes = g.parts.Total(n.Size()) / n.Size()
	}
	a := n.choose(coll.KindAllgather, bytes, g.alike)
	var err error
	if n.checked() {
		d := deed{kind: coll.KindAllgather, element: g.element, count: len(g.own) / g.unit}
		if !g.alike {
			d.count, d.counts = varied, g.counts
		}
		err = n.agree(via, d)
	}
	if err == nil {
		err = coll.Allgather(via, g.own, g.all, g.parts, a)
	}
	if err == nil {
		return nil
	}
	return n.fail(err, func(rest coll.Net) error {
		return coll.Allgather(rest, make([]byte, len(g.own)), make([]byte, len(g.all)), g.parts, a)
	})
}
