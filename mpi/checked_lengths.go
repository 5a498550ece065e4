package mpi

import (
	"fmt"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
)

// Where each rank says itself how much it sends or receives, as in a Gatherv, no record shows whether the two sides of a message agree.
// In checked mode the ranks then also tell each other what they send, or expect, before they do so.

// mismatch is a message of whose length its two sides think differently.
type mismatch struct {
	There          int64 // 0: there is none
	From, To       int64
	Sends, Expects int64
}

// between returns the mismatch of a message, if there is one.
func between(from, to, sends, expects int) mismatch {
	if sends == expects {
		return mismatch{}
	}
	return mismatch{1, int64(from), int64(to), int64(sends), int64(expects)}
}

// agreeOnLengths compares the lengths of the messages of a collective, in checked mode. own tells the ranks of each
// other's, and returns a mismatch of one of this rank's messages.
func (n *net) agreeOnLengths(own func(coll.Net) (mismatch, error)) error {
	if !n.checked() {
		return nil
	}
	m, err := firstMismatch(n, own)
	if err != nil || m.There == 0 {
		return err
	}
	return n.c.failWith(n.op, Undefined, Undefined, ErrMismatch, fmt.Errorf("call %d on the communicator: rank %d is to send %d bytes to rank %d, which expects %d: both must give the same count",
		n.seq, m.From, m.Sends, m.To, m.Expects))
}

// firstMismatch returns, at all ranks, what the first rank has found that has found one.
func firstMismatch(n coll.Net, own func(coll.Net) (mismatch, error)) (mismatch, error) {
	m, err := own(n)
	if err != nil {
		return m, err
	}
	found, first := []mismatch{m}, make([]mismatch, 1)
	err = coll.Allreduce(n, found, first, earlier, coll.RecursiveDoubling)
	return first[0], err
}

// earlier keeps what the lower rank has found.
func earlier(acc, in []mismatch) {
	if acc[0].There == 0 {
		acc[0] = in[0]
	}
}

// lengthsSent has the root of a Gatherv tell each rank what it expects.
func (g *gathering) lengthsSent(n coll.Net) (mismatch, error) {
	expects, err := g.fromRoot(n)
	return between(n.Rank(), g.root, len(g.own), expects), err
}

// lengthsReceived has the root of a Scatterv tell each rank what it sends.
func (g *gathering) lengthsReceived(n coll.Net) (mismatch, error) {
	sends, err := g.fromRoot(n)
	return between(g.root, n.Rank(), sends, len(g.own)), err
}

// fromRoot returns the length that the root has for this rank.
func (g *gathering) fromRoot(n coll.Net) (int, error) {
	var all []byte
	if n.Rank() == g.root {
		all = lengthsOf(n, &g.parts)
	}
	own := make([]int64, 1)
	err := coll.Scatter(n, all, coll.Equal(lengthSize), elem.Memory(own), g.root, coll.Binomial)
	return int(own[0]), err
}

// lengths has each rank of an Alltoallv tell each other one what it sends.
func (x *exchange) lengths(n coll.Net) (mismatch, error) {
	sent := make([]int64, n.Size())
	equal := coll.Equal(lengthSize)
	err := coll.Alltoall(n, lengthsOf(n, &x.sendParts), equal, elem.Memory(sent), equal, coll.Bruck)
	for from, sends := range sent {
		if m := between(from, n.Rank(), int(sends), x.recvParts.Length(from)); m.There != 0 {
			return m, err
		}
	}
	return mismatch{}, err
}

// lengthSize is that of a length on its way.
const lengthSize = 8

// lengthsOf returns the lengths of the parts of all ranks, as they travel.
func lengthsOf(n coll.Net, p *coll.Parts) []byte {
	all := make([]int64, n.Size())
	for rank := range all {
		all[rank] = int64(p.Length(rank))
	}
	return elem.Memory(all)
}
