package mpi_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"gomx/mpi"
)

// The calls on a communicator of two ranks, by the name that their errors have. Their arguments are right, but
// for those that a test gives.
var (
	withPeer = map[string]func(c *mpi.Comm, rank, tag int) error{
		"Send":  func(c *mpi.Comm, rank, tag int) error { return mpi.Send(c, one(), rank, tag) },
		"Ssend": func(c *mpi.Comm, rank, tag int) error { return mpi.Ssend(c, one(), rank, tag) },
		"Bsend": func(c *mpi.Comm, rank, tag int) error { return mpi.Bsend(c, one(), rank, tag) },
		"Rsend": func(c *mpi.Comm, rank, tag int) error { return mpi.Rsend(c, one(), rank, tag) },
		"Recv":  func(c *mpi.Comm, rank, tag int) error { _, err := mpi.Recv(c, one(), rank, tag); return err },
		"Sendrecv": func(c *mpi.Comm, rank, tag int) error {
			_, err := mpi.Sendrecv(c, one(), 0, 0, one(), rank, tag)
			return err
		},
		"SendrecvReplace": func(c *mpi.Comm, rank, tag int) error {
			_, err := mpi.SendrecvReplace(c, one(), rank, tag, 0, 0)
			return err
		},
		"Isend":      func(c *mpi.Comm, rank, tag int) error { _, err := mpi.Isend(c, one(), rank, tag); return err },
		"Issend":     func(c *mpi.Comm, rank, tag int) error { _, err := mpi.Issend(c, one(), rank, tag); return err },
		"Ibsend":     func(c *mpi.Comm, rank, tag int) error { _, err := mpi.Ibsend(c, one(), rank, tag); return err },
		"Irsend":     func(c *mpi.Comm, rank, tag int) error { _, err := mpi.Irsend(c, one(), rank, tag); return err },
		"Irecv":      func(c *mpi.Comm, rank, tag int) error { _, err := mpi.Irecv(c, one(), rank, tag); return err },
		"SendInit":   func(c *mpi.Comm, rank, tag int) error { _, err := mpi.SendInit(c, one(), rank, tag); return err },
		"RecvInit":   func(c *mpi.Comm, rank, tag int) error { _, err := mpi.RecvInit(c, one(), rank, tag); return err },
		"SendLayout": func(c *mpi.Comm, rank, tag int) error { return mpi.SendLayout(c, one(), mpi.Contiguous(1), rank, tag) },
		"RecvLayout": func(c *mpi.Comm, rank, tag int) error {
			_, err := mpi.RecvLayout(c, one(), mpi.Contiguous(1), rank, tag)
			return err
		},
		"IsendLayout": func(c *mpi.Comm, rank, tag int) error {
			_, err := mpi.IsendLayout(c, one(), mpi.Contiguous(1), rank, tag)
			return err
		},
		"IrecvLayout": func(c *mpi.Comm, rank, tag int) error {
			_, err := mpi.IrecvLayout(c, one(), mpi.Contiguous(1), rank, tag)
			return err
		},
		"Probe":   func(c *mpi.Comm, rank, tag int) error { _, err := c.Probe(rank, tag); return err },
		"Iprobe":  func(c *mpi.Comm, rank, tag int) error { _, _, err := c.Iprobe(rank, tag); return err },
		"Mprobe":  func(c *mpi.Comm, rank, tag int) error { _, _, err := c.Mprobe(rank, tag); return err },
		"Improbe": func(c *mpi.Comm, rank, tag int) error { _, _, _, err := c.Improbe(rank, tag); return err },
	}
	withRoot = map[string]func(c *mpi.Comm, root int) error{
		"Bcast":    func(c *mpi.Comm, root int) error { return mpi.Bcast(c, one(), root) },
		"Reduce":   func(c *mpi.Comm, root int) error { return mpi.Reduce(c, one(), one(), mpi.Sum, root) },
		"Gather":   func(c *mpi.Comm, root int) error { return mpi.Gather(c, one(), two(), root) },
		"Gatherv":  func(c *mpi.Comm, root int) error { return mpi.Gatherv(c, one(), two(), []int{1, 1}, nil, root) },
		"Scatter":  func(c *mpi.Comm, root int) error { return mpi.Scatter(c, two(), one(), root) },
		"Scatterv": func(c *mpi.Comm, root int) error { return mpi.Scatterv(c, two(), []int{1, 1}, nil, one(), root) },
	}
	others = map[string]func(c *mpi.Comm) error{
		"Barrier":            func(c *mpi.Comm) error { return c.Barrier() },
		"Ibarrier":           func(c *mpi.Comm) error { _, err := c.Ibarrier(); return err },
		"Allreduce":          func(c *mpi.Comm) error { return mpi.Allreduce(c, one(), one(), mpi.Sum) },
		"Iallreduce":         func(c *mpi.Comm) error { _, err := mpi.Iallreduce(c, one(), one(), mpi.Sum); return err },
		"ReduceScatter":      func(c *mpi.Comm) error { return mpi.ReduceScatter(c, two(), one(), []int{1, 1}, mpi.Sum) },
		"ReduceScatterBlock": func(c *mpi.Comm) error { return mpi.ReduceScatterBlock(c, two(), one(), mpi.Sum) },
		"Scan":               func(c *mpi.Comm) error { return mpi.Scan(c, one(), one(), mpi.Sum) },
		"Exscan":             func(c *mpi.Comm) error { return mpi.Exscan(c, one(), one(), mpi.Sum) },
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
)

// calls are all of them, with right arguments.
func calls() map[string]func(c *mpi.Comm) error {
	all := maps.Clone(others)
	for name, call := range withPeer {
		all[name] = func(c *mpi.Comm) error { return call(c, 0, 0) }
	}
	for name, call := range withRoot {
		all[name] = func(c *mpi.Comm) error { return call(c, 0) }
	}
	return all
}

func one() []int { return make([]int, 1) }
func two() []int { return make([]int, 2) }

// wantNamed wants every call to return an error of a class that names the call, the rank and the
// communicator.
func wantNamed(c *mpi.Comm, class mpi.ErrorClass, rank int, communicator string) error {
	var all []error
	for name, call := range calls() {
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

// TestEveryCallWithWrongPeer: the error names the call, both ranks and the tag, and what would be right.
func TestEveryCallWithWrongPeer(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		var all []error
		for name, call := range withPeer {
			all = append(all,
				wantAbout(call(c, 2, 5), mpi.ErrRank, name, c.Rank(), 2, 5, "no rank 2: ranks are 0 to 1"),
				wantAbout(call(c, mpi.Undefined, 5), mpi.ErrRank, name, c.Rank(), mpi.Undefined, 5, "no rank -3: ranks are 0 to 1"),
				wantAbout(call(c, 1, -9), mpi.ErrTag, name, c.Rank(), 1, -9, fmt.Sprint("no tag -9: tags are 0 to ", mpi.TagUB)),
				wantAbout(call(c, 1, mpi.TagUB+1), mpi.ErrTag, name, c.Rank(), 1, mpi.TagUB+1, fmt.Sprint(mpi.TagUB)))
		}
		for name, call := range withRoot {
			all = append(all,
				wantAbout(call(c, 2), mpi.ErrRoot, name, c.Rank(), 2, mpi.Undefined, "no rank 2: ranks are 0 to 1"),
				wantAbout(call(c, -1), mpi.ErrRoot, name, c.Rank(), -1, mpi.Undefined, "with rank -1: invalid root: there is no rank -1: ranks are 0 to 1"))
		}
		return errors.Join(all...)
	})
}

// wantAbout wants an error to name all of that, and to say what would be right.
func wantAbout(err error, class mpi.ErrorClass, name string, rank, peer, tag int, remedy string) error {
	e, ok := errors.AsType[*mpi.Error](err)
	if !ok || e.Class != class || e.Op != name || e.Rank != rank || e.Peer != peer || e.Tag != tag || !strings.Contains(err.Error(), remedy) {
		return fmt.Errorf("%s, rank %d, tag %d: %v, want class %q, and %q", name, peer, tag, err, class, remedy)
	}
	return nil
}
