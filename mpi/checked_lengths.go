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

// agreeOnLengths compares the lengths of the messages of a collective, in checked mode. own exchanges
// them between the ranks, and puts a mismatch of one of this rank's messages into its list. via is n, or the plan of a nonblocking collective.
func (n *net) agreeOnLengths(via coll.Net, own comparison) error {
	first, err := firstMismatch(via, own)
	if err != nil {
		return err
	}
	return coll.Do(via, func() error {
		m := first[0]
		if m.There == 0 {
			return nil
		}
		return n.c.failWith(n.op, Undefined, Undefined, ErrMismatch, fmt.Errorf("call %d on the communicator: rank %d is to send %d bytes to rank %d, which expects %d: both must give the same count",
			n.seq, m.From, m.Sends, m.To, m.Expects))
	})
}

// comparison tells the ranks of each other's lengths, and puts a mismatch of one of this rank's messages into a list of one.
type comparison func(n coll.Net, found []mismatch) error

// firstMismatch has a list of one be, at all ranks, what the first rank has found that has found one.
func firstMismatch(n coll.Net, own comparison) (first []mismatch, err error) {
	found, first := make([]mismatch, 1), make([]mismatch, 1)
	if err := own(n, found); err != nil {
		return first, err
	}
	return first, coll.Allreduce(n, found, first, earlier, coll.RecursiveDoubling)
}

// earlier keeps what the lower rank has found.
func earlier(acc, in []mismatch) {
	if acc[0].There == 0 {
		acc[0] = in[0]
	}
}

// lengthsSent has the root of a Gatherv tell each rank what it expects.
func (g *gathering) lengthsSent(n coll.Net, found []mismatch) error {
	expects, err := g.fromRoot(n)
	if err != nil {
		return err
	}
	rank, root, sends := n.Rank(), g.root, len(g.own)
	return coll.Do(n, func() error { found[0] = between(rank, root, sends, int(expects[0])); return nil })
}

// lengthsReceived has the root of a Scatterv tell each rank what it sends.
func (g *gathering) lengthsReceived(n coll.Net, found []mismatch) error {
	sends, err := g.fromRoot(n)
	if err != nil {
		return err
	}
	rank, root, expects := n.Rank(), g.root, len(g.own)
	return coll.Do(n, func() error { found[0] = between(root, rank, int(sends[0]), expects); return nil })
}

// fromRoot has a list of one be the length that the root has for this rank.
func (g *gathering) fromRoot(n coll.Net) (own []int64, err error) {
	var all []byte
	if n.Rank() == g.root {
		all = lengthsOf(n, &g.parts)
	}
	own = make([]int64, 1)
	return own, coll.Scatter(n, all, coll.Equal(lengthSize), elem.Memory(own), g.root, coll.Binomial)
}

// lengths has each rank of an Alltoallv tell each other one what it sends.
func (x *exchange) lengths(n coll.Net, found []mismatch) error {
	sent, equal, parts, rank := make([]int64, n.Size()), coll.Equal(lengthSize), x.recvParts, n.Rank()
	if err := coll.Alltoall(n, lengthsOf(n, &x.sendParts), &equal, elem.Memory(sent), &equal, coll.Bruck); err != nil {
		return err
	}
	return coll.Do(n, func() error {
		for from, sends := range sent {
			if m := between(from, rank, int(sends), parts.Length(from)); m.There != 0 {
				found[0] = m
				break
			}
		}
		return nil
	})
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
