package mpi

import (
	"reflect"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// Gather collects send of all ranks, of the same length, in recv of the root, in the order of
// the ranks (MPI_Gather). recv of the others is not used and may be nil. The root's send may be its
// part of recv, or recv itself if that already has the part. Errors: ErrComm, ErrRoot, ErrType, ErrCount, ErrArg for buffers that overlap
// otherwise, ErrProcFailed.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Gather[T any](c *Comm, send, recv []T, root int) error {
	n, g, err := beginGather(c, "Gather", send, recv, nil, nil, root)
	if err != nil {
		return err
	}
	return n.finish(n.gather(n, &g))
}

// Igather begins a Gather (MPI_Igather). The buffers belong to it until the request is complete.
func Igather[T any](c *Comm, send, recv []T, root int) (Request, error) {
	return startGather(c, "Igather", send, recv, nil, nil, root)
}

// Gatherv is Gather of lengths that differ: recv of the root takes counts[i] elements of rank i,
// which go to displs[i], or one behind the other if displs is nil (MPI_Gatherv). Parts must not overlap. recv,
// counts and displs of the others are not used.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	n, g, err := beginGather(c, "Gatherv", send, recv, counts, displs, root)
	if err != nil {
		return err
	}
	return n.finish(n.gather(n, &g))
}

// Igatherv begins a Gatherv (MPI_Igatherv). All slices belong to it until the request is complete.
func Igatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	return startGather(c, "Igatherv", send, recv, counts, displs, root)
}

func startGather[T any](c *Comm, op string, send, recv []T, counts, displs []int, root int) (Request, error) {
	n, g, err := beginGather(c, op, send, recv, counts, displs, root)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return n.gather(via, &g) })
}

// gathering are the arguments of a gather or a scatter: a rank's own part, and
// that of all, at the root.
type gathering struct {
	own, all []byte
	parts    coll.Parts
	counts   []int
	root     int
	unit     int
	element  reflect.Type
	alike    bool
}

func beginGather[T any](c *Comm, op string, send, recv []T, counts, displs []int, root int) (*net, gathering, error) {
	g := gathering{root: root, unit: elem.Size[T](), element: reflect.TypeFor[T](), alike: op == "Gather" || op == "Igather"}
	var err error
	if g.own, err = collectiveBytes(c, op, send); err != nil {
		return nil, g, err
	}
	if err := c.checkRoot(op, root); err != nil {
		return nil, g, err
	}
	if c.rank == root {
		if g.own, err = ownPart(c, op, "recv", send, recv, counts, displs, g.alike); err != nil {
			return nil, g, err
		}
		g.all, _ = elem.Bytes(recv)
	}
	g.parts = partsOf(len(g.own), counts, displs, g.unit, g.alike)
	return c.net(op), g, nil
}

// partsOf says where the ranks' parts lie: they have the length of the own one, or are as listed.
func partsOf(own int, counts, displs []int, unit int, alike bool) coll.Parts {
	if alike {
		return coll.Equal(own)
	}
	return coll.Listed(counts, displs, unit)
}

// ownPart checks the buffer that has the parts of all ranks, and returns the memory of the
// caller's own, which lies in it or apart.
func ownPart[T any](c *Comm, op, name string, own, all []T, counts, displs []int, alike bool) ([]byte, error) {
	b, _ := elem.Bytes(own)
	whole, err := collectiveBytes(c, op, all)
	if err != nil {
		return nil, err
	}
	size, unit := len(c.peers), elem.Size[T]()
	inPlace := size > 1 && len(own) == len(all) && len(all) > 0 && elem.Same(own, all)
	length := len(b)
	if alike {
		if inPlace {
			length /= size
		}
		if err := c.checkLengths(op, name, len(all), length/unit*size, "it has a part for each rank"); err != nil {
			return nil, err
		}
	} else if err := c.checkCounts(op, counts, displs, len(all)); err != nil {
		return nil, err
	}
	p := partsOf(length, counts, displs, unit, alike)
	part := p.Of(whole, c.rank)
	if inPlace {
		return part, nil
	}
	if err := c.checkLengths(op, "the rank's own buffer", len(own), len(part)/unit, "that is the count of this rank"); err != nil {
		return nil, err
	}
	if elem.Same(b, part) {
		return b, nil
	}
	return b, c.checkApart(op, b, whole)
}

// agreeOnParts compares what the ranks have given a gather or a scatter, in checked mode.
func (n *net) agreeOnParts(via coll.Net, k coll.Kind, g *gathering, lengths comparison) error {
	d := deed{kind: k, root: g.root, element: g.element, count: varied}
	if g.alike {
		d.count = len(g.own) / g.unit
		return n.agree(via, d)
	}
	if err := n.agree(via, d); err != nil {
		return err
	}
	return n.agreeOnLengths(via, lengths)
}

func (n *net) gather(via coll.Net, g *gathering) error {
	a := n.choose(coll.KindGather, len(g.own), g.alike)
	var err error
	if n.checked() {
		err = n.agreeOnParts(via, coll.KindGather, g, g.lengthsSent)
	}
	if err == nil {
		err = coll.Gather(via, g.own, g.all, g.parts, g.root, a)
	}
	if err == nil {
		return nil
	}
	return n.fail(err, func(rest coll.Net) error {
		if n.checked() && !g.alike {
			_, _ = firstMismatch(rest, g.lengthsSent)
		}
		return coll.Gather(rest, make([]byte, len(g.own)), make([]byte, len(g.all)), g.parts, g.root, a)
	})
}
