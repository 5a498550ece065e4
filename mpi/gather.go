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
	var g gathering
	n, err := beginParts(c, "Gather", send, "recv", recv, nil, nil, root, true, &g)
	if err != nil {
		return err
	}
	return n.finish(n.gather(n, &g))
}

// Igather begins a Gather (MPI_Igather). The buffers belong to it until the request is complete.
func Igather[T any](c *Comm, send, recv []T, root int) (Request, error) {
	return startGather(c, "Igather", send, recv, nil, nil, root, true)
}

// Gatherv is Gather of lengths that differ: recv of the root takes counts[i] elements of rank i,
// which go to displs[i], or one behind the other if displs is nil (MPI_Gatherv). Parts must not overlap. recv,
// counts and displs of the others are not used.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	var g gathering
	n, err := beginParts(c, "Gatherv", send, "recv", recv, counts, displs, root, false, &g)
	if err != nil {
		return err
	}
	return n.finish(n.gather(n, &g))
}

// Igatherv begins a Gatherv (MPI_Igatherv). All slices belong to it until the request is complete.
func Igatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	return startGather(c, "Igatherv", send, recv, counts, displs, root, false)
}

func startGather[T any](c *Comm, op string, send, recv []T, counts, displs []int, root int, alike bool) (Request, error) {
	var g gathering
	n, err := beginParts(c, op, send, "recv", recv, counts, displs, root, alike, &g)
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

// beginParts checks the arguments of a gather or scatter: a rank's own buffer, and the one of all parts at the root, which has that
// name in errors.
func beginParts[T any](c *Comm, op string, own []T, name string, all []T, counts, displs []int, root int, alike bool, g *gathering) (*net, error) {
	mine, err := collectiveBytes(c, op, own)
	if err == nil {
		err = c.checkRoot(op, root)
	}
	if err != nil {
		return nil, err
	}
	g.describe(mine, root, elem.Size[T](), reflect.TypeFor[T](), counts, alike)
	if c.rank != root {
		g.parts = partsOf(len(mine), counts, displs, g.unit, alike)
	} else if err := g.place(c, op, name, elem.Memory(all), displs); err != nil {
		return nil, err
	}
	return c.net(op), nil
}

// describe notes a rank's own buffer, and what elements there are.
func (g *gathering) describe(own []byte, root, unit int, element reflect.Type, counts []int, alike bool) {
	g.own, g.root, g.unit, g.element, g.counts, g.alike = own, root, unit, element, counts, alike
}

// partsOf says where the ranks' parts lie: they have the length of the own one, or are as listed.
func partsOf(own int, counts, displs []int, unit int, alike bool) coll.Parts {
	if alike {
		return coll.Equal(own)
	}
	return coll.Listed(counts, displs, unit)
}

// noMultiple is the error of a buffer that does not have a part of the same length for each rank.
func (c *Comm) noMultiple(op, name string, elements int) error {
	return c.fail(op, ErrCount, "%s has %d elements, no multiple of %d: it has a part of the same length for each rank", name, elements, len(c.peers))
}

// place checks the buffer that has the parts of all ranks, and notes where they lie. The caller's own may be one of them, or lies apart;
// it is also one where the caller has given the whole buffer for it.
func (g *gathering) place(c *Comm, op, name string, all []byte, displs []int) error {
	if err := c.checkLength(op, len(all), Undefined, Undefined); err != nil {
		return err
	}
	size, unit, own := len(c.peers), g.unit, g.own
	inPlace := size > 1 && len(own) == len(all) && len(all) > 0 && elem.Same(own, all)
	if g.alike {
		length := len(own)
		if inPlace {
			if length/unit%size != 0 {
				return c.noMultiple(op, name, length/unit)
			}
			length /= size
		}
		if len(all) != length*size {
			return c.checkLengths(op, name, len(all)/unit, length/unit*size, "it has a part for each rank")
		}
		g.parts = coll.Equal(length)
	} else {
		if err := c.checkCounts(op, name, g.counts, displs, len(all)/unit); err != nil {
			return err
		}
		g.parts = coll.Listed(g.counts, displs, unit)
	}
	g.all = all
	part := g.parts.Of(all, c.rank)
	switch {
	case inPlace:
		g.own = part
	case len(own) != len(part):
		return c.checkLengths(op, "the rank's own buffer", len(own)/unit, len(part)/unit, "that is the count of this rank")
	case !elem.Same(own, part):
		return c.checkApart(op, own, all)
	}
	return nil
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
