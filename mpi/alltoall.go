package mpi

import (
	"reflect"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// Alltoall sends part i of send to rank i, and receives the part of rank i in part i of
// recv; all parts are of one length (MPI_Alltoall). The same slice may be given twice. Errors: ErrComm, ErrType,
// ErrCount, ErrArg for buffers that overlap otherwise, ErrProcFailed.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Alltoall[T any](c *Comm, send, recv []T) error {
	n, x, err := beginAlltoall(c, "Alltoall", send, nil, nil, recv, nil, nil)
	if err != nil {
		return err
	}
	return n.finish(n.alltoall(n, &x))
}

// Ialltoall begins an Alltoall (MPI_Ialltoall). The buffers belong to it until the request is complete.
func Ialltoall[T any](c *Comm, send, recv []T) (Request, error) {
	n, x, err := beginAlltoall(c, "Ialltoall", send, nil, nil, recv, nil, nil)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return n.alltoall(via, &x) })
}

// Alltoallv is Alltoall of lengths that differ: sendCounts[i] elements of send, from sendDispls[i] on, go to
// rank i, and recvCounts[i] elements of rank i go to recvDispls[i] of recv (MPI_Alltoallv). Where displacements
// are nil, the parts lie one behind the other. Parts of recv must not overlap.
// If the context of the communicator ends it, the buffers stay in use: see Comm.WithContext.
func Alltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) error {
	n, x, err := beginAlltoall(c, "Alltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls)
	if err != nil {
		return err
	}
	return n.finish(n.alltoall(n, &x))
}

// Ialltoallv begins an Alltoallv (MPI_Ialltoallv). All slices belong to it until the request is
// complete.
func Ialltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) (Request, error) {
	n, x, err := beginAlltoall(c, "Ialltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls)
	if err != nil {
		return Request{}, err
	}
	return n.start(func(n *net, via coll.Net) error { return n.alltoall(via, &x) })
}

// exchange are the arguments of an Alltoall.
type exchange struct {
	send, recv           []byte
	sendParts, recvParts coll.Parts
	unit, length         int // bytes: of an element, of a part if all are alike
	element              reflect.Type
	alike                bool
}

func beginAlltoall[T any](c *Comm, op string, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) (*net, exchange, error) {
	x := exchange{unit: elem.Size[T](), element: reflect.TypeFor[T](), alike: op == "Alltoall" || op == "Ialltoall"}
	var err error
	if x.send, err = collectiveBytes(c, op, send); err != nil {
		return nil, x, err
	}
	if x.recv, err = collectiveBytes(c, op, recv); err != nil {
		return nil, x, err
	}
	if x.alike {
		size := len(c.peers)
		if err = c.checkLengths(op, "recv", len(recv), len(send), "it takes as many as send has"); err == nil {
			err = c.checkLengths(op, "send", len(send), len(send)/size*size, "it has a part of the same length for each rank")
		}
		x.length = len(send) / size * x.unit
	} else if err = c.checkCounts(op, sendCounts, sendDispls, len(send)); err == nil {
		if err = c.checkCounts(op, recvCounts, recvDispls, len(recv)); err == nil {
			err = c.checkLengths(op, "the rank's own part of recv", recvCounts[c.rank], sendCounts[c.rank], "it is sent as many")
		}
	}
	if err == nil && !elem.Same(send, recv) {
		err = c.checkApart(op, x.send, x.recv)
	}
	if err != nil {
		return nil, x, err
	}
	x.sendParts = partsOf(x.length, sendCounts, sendDispls, x.unit, x.alike)
	x.recvParts = partsOf(x.length, recvCounts, recvDispls, x.unit, x.alike)
	return c.net(op), x, nil
}

// agreeOnAlltoall compares what the ranks have given an Alltoall, in checked mode.
func (n *net) agreeOnAlltoall(via coll.Net, x *exchange) error {
	d := deed{kind: coll.KindAlltoall, element: x.element, count: varied}
	if x.alike {
		d.count = x.length / x.unit
		return n.agree(via, d)
	}
	if err := n.agree(via, d); err != nil {
		return err
	}
	return n.agreeOnLengths(via, x.lengths)
}

func (n *net) alltoall(via coll.Net, x *exchange) error {
	a := n.choose(coll.KindAlltoall, x.length, x.alike)
	var err error
	if n.checked() {
		err = n.agreeOnAlltoall(via, x)
	}
	if err == nil {
		send := x.send
		if elem.Same(send, x.recv) {
			send = via.Scratch(len(x.send))
			coll.Move(via, send, x.send)
		}
		err = coll.Alltoall(via, send, x.sendParts, x.recv, x.recvParts, a)
	}
	if err == nil {
		return nil
	}
	return n.fail(err, func(rest coll.Net) error {
		if n.checked() && !x.alike {
			_, _ = firstMismatch(rest, x.lengths)
		}
		return coll.Alltoall(rest, make([]byte, len(x.send)), x.sendParts, make([]byte, len(x.recv)), x.recvParts, a)
	})
}
