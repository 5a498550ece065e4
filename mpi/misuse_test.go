package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mpi"
)

// calls are calls on a communicator of two ranks whose arguments are right, by the name that
// their errors have.
var calls = map[string]func(c *mpi.Comm) error{
	"Send":               func(c *mpi.Comm) error { return mpi.Send(c, one(), 0, 0) },
	"Ssend":              func(c *mpi.Comm) error { return mpi.Ssend(c, one(), 0, 0) },
	"Bsend":              func(c *mpi.Comm) error { return mpi.Bsend(c, one(), 0, 0) },
	"Rsend":              func(c *mpi.Comm) error { return mpi.Rsend(c, one(), 0, 0) },
	"Recv":               func(c *mpi.Comm) error { _, err := mpi.Recv(c, one(), 0, 0); return err },
	"Sendrecv":           func(c *mpi.Comm) error { _, err := mpi.Sendrecv(c, one(), 0, 0, one(), 0, 0); return err },
	"SendrecvReplace":    func(c *mpi.Comm) error { _, err := mpi.SendrecvReplace(c, one(), 0, 0, 0, 0); return err },
	"Isend":              func(c *mpi.Comm) error { _, err := mpi.Isend(c, one(), 0, 0); return err },
	"Issend":             func(c *mpi.Comm) error { _, err := mpi.Issend(c, one(), 0, 0); return err },
	"Ibsend":             func(c *mpi.Comm) error { _, err := mpi.Ibsend(c, one(), 0, 0); return err },
	"Irsend":             func(c *mpi.Comm) error { _, err := mpi.Irsend(c, one(), 0, 0); return err },
	"Irecv":              func(c *mpi.Comm) error { _, err := mpi.Irecv(c, one(), 0, 0); return err },
	"SendInit":           func(c *mpi.Comm) error { _, err := mpi.SendInit(c, one(), 0, 0); return err },
	"RecvInit":           func(c *mpi.Comm) error { _, err := mpi.RecvInit(c, one(), 0, 0); return err },
	"SendLayout":         func(c *mpi.Comm) error { return mpi.SendLayout(c, one(), mpi.Contiguous(1), 0, 0) },
	"RecvLayout":         func(c *mpi.Comm) error { _, err := mpi.RecvLayout(c, one(), mpi.Contiguous(1), 0, 0); return err },
	"IsendLayout":        func(c *mpi.Comm) error { _, err := mpi.IsendLayout(c, one(), mpi.Contiguous(1), 0, 0); return err },
	"IrecvLayout":        func(c *mpi.Comm) error { _, err := mpi.IrecvLayout(c, one(), mpi.Contiguous(1), 0, 0); return err },
	"Probe":              func(c *mpi.Comm) error { _, err := c.Probe(0, 0); return err },
	"Iprobe":             func(c *mpi.Comm) error { _, _, err := c.Iprobe(0, 0); return err },
	"Mprobe":             func(c *mpi.Comm) error { _, _, err := c.Mprobe(0, 0); return err },
	"Improbe":            func(c *mpi.Comm) error { _, _, _, err := c.Improbe(0, 0); return err },
	"Barrier":            func(c *mpi.Comm) error { return c.Barrier() },
	"Ibarrier":           func(c *mpi.Comm) error { _, err := c.Ibarrier(); return err },
	"Bcast":              func(c *mpi.Comm) error { return mpi.Bcast(c, one(), 0) },
	"Reduce":             func(c *mpi.Comm) error { return mpi.Reduce(c, one(), one(), mpi.Sum, 0) },
	"Allreduce":          func(c *mpi.Comm) error { return mpi.Allreduce(c, one(), one(), mpi.Sum) },
	"Iallreduce":         func(c *mpi.Comm) error { _, err := mpi.Iallreduce(c, one(), one(), mpi.Sum); return err },
	"ReduceScatter":      func(c *mpi.Comm) error { return mpi.ReduceScatter(c, two(), one(), []int{1, 1}, mpi.Sum) },
	"ReduceScatterBlock": func(c *mpi.Comm) error { return mpi.ReduceScatterBlock(c, two(), one(), mpi.Sum) },
	"Scan":               func(c *mpi.Comm) error { return mpi.Scan(c, one(), one(), mpi.Sum) },
	"Exscan":             func(c *mpi.Comm) error { return mpi.Exscan(c, one(), one(), mpi.Sum) },
	"Gather":             func(c *mpi.Comm) error { return mpi.Gather(c, one(), two(), 0) },
	"Gatherv":            func(c *mpi.Comm) error { return mpi.Gatherv(c, one(), two(), []int{1, 1}, nil, 0) },
	"Scatter":            func(c *mpi.Comm) error { return mpi.Scatter(c, two(), one(), 0) },
	"Scatterv":           func(c *mpi.Comm) error { return mpi.Scatterv(c, two(), []int{1, 1}, nil, one(), 0) },
	"Allgather":          func(c *mpi.Comm) error { return mpi.Allgather(c, one(), two()) },
	"Allgatherv":         func(c *mpi.Comm) error { return mpi.Allgatherv(c, one(), two(), []int{1, 1}, nil) },
	"Alltoall":           func(c *mpi.Comm) error { return mpi.Alltoall(c, two(), two()) },
	"Alltoallv": func(c *mpi.Comm) error {
		return mpi.Alltoallv(c, two(), []int{1, 1}, nil, two(), []int{1, 1}, nil)
	},
	"Dup":         func(c *mpi.Comm) error { _, err := c.Dup(); return err },
	"Split":       func(c *mpi.Comm) error { _, err := c.Split(0, 0); return err },
	"SplitHost":   func(c *mpi.Comm) error { _, err := c.SplitHost(0); return err },
	"Create":      func(c *mpi.Comm) error { _, err := c.Create(nil); return err },
	"Cart":        func(c *mpi.Comm) error { _, err := c.Cart([]int{2}, []bool{true}, false); return err },
	"Free":        func(c *mpi.Comm) error { return c.Free() },
	"WinCreate":   func(c *mpi.Comm) error { _, err := mpi.WinCreate(c, one()); return err },
	"WinAllocate": func(c *mpi.Comm) error { _, err := mpi.WinAllocate[int](c, 1); return err },
}

func one() []int { return make([]int, 1) }
func two() []int { return make([]int, 2) }

// wantNamed wants every call to return an error of a class that names the call, the rank and the
// communicator.
func wantNamed(c *mpi.Comm, class mpi.ErrorClass, rank int, communicator string) error {
	var all []error
	for name, call := range calls {
		err := call(c)
		e, ok := errors.AsType[*mpi.Error](err)
		if !ok || !errors.Is(err, class) || e.Op != name || e.Rank != rank || e.Comm != communicator {
			all = append(all, fmt.Errorf("%s: %v, want class %q, the call, rank %d and communicator %q", name, err, class, rank, communicator))
		}
	}
	return errors.Join(all...)
}

func TestEveryCallWithoutCommunicator(t *testing.T) {
	for what, c := range map[string]*mpi.Comm{"nil": nil, "empty": {}} {
		if err := wantNamed(c, mpi.ErrComm, mpi.Undefined, ""); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestEveryCallOnFreedCommunicator(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		p, err := mpi.SendInit(d, one(), 0, 0)
		if err != nil {
			return err
		}
		d.SetName("the old one")
		if err := d.Free(); err != nil {
			return err
		}
		_, started := p.Start()
		return errors.Join(wantError(started, mpi.ErrComm, c.Rank()), wantNamed(d, mpi.ErrComm, c.Rank(), "the old one"))
	})
}

func TestEveryCallAfterFinalize(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		if err := c.Finalize(); err != nil {
			return err
		}
		return errors.Join(wantNamed(c, mpi.ErrFinalized, c.Rank(), "world"), wantNamed(c.Self(), mpi.ErrFinalized, 0, "self"))
	})
}
