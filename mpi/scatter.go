package mpi

import "gomx/mpi/internal/coll"

// Scatter gives each rank, in recv, its part of send of the root: parts of the length of
// recv, in the order of the ranks (MPI_Scatter). send of the others is not used and may be nil. The
// root's recv may be its part of send, or send itself to leave its part there. Errors: ErrComm, ErrRoot, ErrType, ErrCount, ErrArg
// for buffers that overlap otherwise, ErrProcFailed.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Scatter[T any](c *Comm, send, recv []T, root int) error {
	var g gathering
	n, err := beginParts(c, "Scatter", recv, "send", send, nil, nil, root, true, &g)
	if err != nil {
		return err
	}
	return n.finish(n.scatter(n, &g))
}

// Iscatter begins a Scatter (MPI_Iscatter). The buffers belong to it until the request is complete.
func Iscatter[T any](c *Comm, send, recv []T, root int) (Request, error) {
	return startScatter(c, "Iscatter", send, nil, nil, recv, root, true)
}

// Scatterv is Scatter of lengths that differ: rank i gets counts[i] elements of send of the root, which
// begin at displs[i], or lie one behind the other if displs is nil (MPI_Scatterv). send, counts and
// displs of the others are not used.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Scatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) error {
	var g gathering
	n, err := beginParts(c, "Scatterv", recv, "send", send, counts, displs, root, false, &g)
	if err != nil {
		return err
	}
	return n.finish(n.scatter(n, &g))
}

// Iscatterv begins a Scatterv (MPI_Iscatterv). All slices belong to it until the request is complete.
func Iscatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) (Request, error) {
	return startScatter(c, "Iscatterv", send, counts, displs, recv, root, false)
}

func startScatter[T any](c *Comm, op string, send []T, counts, displs []int, recv []T, root int, alike bool) (Request, error) {
	var g gathering
	n, err := beginParts(c, op, recv, "send", send, counts, displs, root, alike, &g)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return n.scatter(via, &g) })
}

func (n *net) scatter(via coll.Net, g *gathering) error {
	a := n.choose(coll.KindScatter, len(g.own), g.alike)
	var err error
	if n.checked() {
		err = n.agreeOnParts(via, coll.KindScatter, g, g.lengthsReceived)
	}
	if err == nil {
		err = coll.Scatter(via, g.all, g.parts, g.own, g.root, a)
	}
	if err == nil {
		return nil
	}
	return n.fail(err, func(rest coll.Net) error {
		if n.checked() && !g.alike {
			_, _ = firstMismatch(rest, g.lengthsReceived)
		}
		return coll.Scatter(rest, make([]byte, len(g.all)), g.parts, make([]byte, len(g.own)), g.root, a)
	})
}
