package mpi

import (
	"reflect"

	"gomx/mpi/internal/coll"
)

// Bcast copies buf of the root into buf of all other ranks, where it has the same
// length (MPI_Bcast). Errors: ErrComm, ErrRoot, ErrType, ErrCount where the lengths differ,
// ErrProcFailed.
// If the context of the communicator ends it, buf stays in use: see Comm.WithContext.
func Bcast[T any](c *Comm, buf []T, root int) error {
	n, b, err := beginBcast(c, "Bcast", buf, root)
	if err != nil {
		return err
	}
	return n.finish(n.bcast(n, b, root, reflect.TypeFor[T]()))
}

// Ibcast begins a Bcast (MPI_Ibcast). buf belongs to it until the request is complete.
func Ibcast[T any](c *Comm, buf []T, root int) (Request, error) {
	n, b, err := beginBcast(c, "Ibcast", buf, root)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return n.bcast(via, b, root, reflect.TypeFor[T]()) })
}

func beginBcast[T any](c *Comm, op string, buf []T, root int) (*net, []byte, error) {
	b, err := collectiveBytes(c, op, buf)
	if err == nil {
		err = c.checkRoot(op, root)
	}
	if err != nil {
		return nil, nil, err
	}
	return c.net(op), b, nil
}

func (n *net) bcast(via coll.Net, b []byte, root int, element reflect.Type) error {
	a := n.choose(coll.KindBcast, len(b), true)
	var err error
	if n.checked() {
		err = n.agree(via, deed{kind: coll.KindBcast, root: root, element: element, count: len(b) / int(element.Size())})
	}
	if err == nil {
		err = coll.Bcast(via, b, root, a)
	}
	if err == nil {
		return nil
	}
	return n.fail(err, func(rest coll.Net) error { return coll.Bcast(rest, make([]byte, len(b)), root, a) })
}
