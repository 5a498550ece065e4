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
	var x exchange
	n, err := beginAlltoall(c, "Alltoall", send, recv, &x)
	if err != nil {
		return err
	}
	return n.finish(n.alltoall(n, &x))
}

// Ialltoall begins an Alltoall (MPI_Ialltoall). The buffers belong to it until the request is complete.
func Ialltoall[T any](c *Comm, send, recv []T) (Request, error) {
	var x exchange
	n, err := beginAlltoall(c, "Ialltoall", send, recv, &x)
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
	var x exchange
	n, err := beginAlltoallv(c, "Alltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls, &x)
	if err != nil {
		return err
	}
	return n.finish(n.alltoall(n, &x))
}

// Ialltoallv begins an Alltoallv (MPI_Ialltoallv). All slices belong to it until the request is
// complete.
func Ialltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) (Request, error) {
	var x exchange
	n, err := beginAlltoallv(c, "Ialltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls, &x)
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
	alike, inPlace       bool
}

// beginAlltoall checks the arguments of an Alltoall, and begins it.
func beginAlltoall[T any](c *Comm, op string, send, recv []T, x *exchange) (*net, error) {
	if err := exchangeOf(c, op, send, recv, x); err != nil {
		return nil, err
	}
	size := len(c.peers)
	part := len(send) / size
	if len(recv) != len(send) || part*size != len(send) {
		if err := c.checkLengths(op, "recv", len(recv), len(send), "it takes as many as send has"); err != nil {
			return nil, err
		}
		return nil, c.noMultiple(op, "send", len(send))
	}
	x.alike, x.length = true, part*x.unit
	x.sendParts = coll.Equal(x.length)
	x.recvParts = x.sendParts
	return x.begin(c, op)
}

// beginAlltoallv is beginAlltoall of an Alltoallv.
func beginAlltoallv[T any](c *Comm, op string, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int, x *exchange) (*net, error) {
	if err := exchangeOf(c, op, send, recv, x); err != nil {
		return nil, err
	}
	if err := c.checkCounts(op, "send", sendCounts, sendDispls, len(send)); err != nil {
		return nil, err
	}
	if err := c.checkCounts(op, "recv", recvCounts, recvDispls, len(recv)); err != nil {
		return nil, err
	}
	if err := c.checkLengths(op, "the rank's own part of recv", recvCounts[c.rank], sendCounts[c.rank], "it is sent as many"); err != nil {
		return nil, err
	}
	x.sendParts, x.recvParts = coll.Listed(sendCounts, sendDispls, x.unit), coll.Listed(recvCounts, recvDispls, x.unit)
	return x.begin(c, op)
}

// exchangeOf notes the buffers of an Alltoall.
func exchangeOf[T any](c *Comm, op string, send, recv []T, x *exchange) (err error) {
	if x.send, err = collectiveBytes(c, op, send); err != nil {
		return err
	}
	x.recv = elem.Memory(recv)
	x.unit, x.element, x.inPlace = elem.Size[T](), reflect.TypeFor[T](), elem.Same(send, recv)
	if len(recv) == len(send) {
		return nil
	}
	return c.checkLength(op, len(x.recv), Undefined, Undefined)
}

// begin begins the Alltoall unless its buffers share memory, and are not the same.
func (x *exchange) begin(c *Comm, op string) (*net, error) {
	if x.inPlace || !elem.Overlap(x.send, x.recv) {
		return c.net(op), nil
	}
	return nil, c.checkApart(op, x.send, x.recv)
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
		if x.inPlace {
			send = via.Scratch(len(x.send))
			coll.Move(via, send, x.send)
		}
		err = coll.Alltoall(via, send, &x.sendParts, x.recv, &x.recvParts, a)
	}
	if err == nil {
		return nil
	}
	return n.fail(err, func(rest coll.Net) error {
		if n.checked() && !x.alike {
			_, _ = firstMismatch(rest, x.lengths)
		}
		return coll.Alltoall(rest, make([]byte, len(x.send)), &x.sendParts, make([]byte, len(x.recv)), &x.recvParts, a)
	})
}
