package coll

import "math/bits"

// team is the ranks that take part in rounds of pairs. Their number is a power of two. Of the first 2*spare ranks, the even
// ones are absent: they have sent their contribution to the next rank. The members have virtual ranks from 0 to size-1, in
// the order of their ranks.
type team struct {
	vrank, size, spare int
}

func teamOf(n Net) team {
	t := team{size: 1 << (bits.Len(uint(n.Size())) - 1)}
	t.spare = n.Size() - t.size
	t.vrank = t.vrankOf(n.Rank())
	return t
}

func (t *team) absent(rank int) bool { return rank < 2*t.spare && rank&1 == 0 }

// vrankOf returns the virtual rank of a rank, or of the rank that takes part in its stead.
func (t *team) vrankOf(rank int) int {
	if rank < 2*t.spare {
		return rank / 2
	}
	return rank - t.spare
}

// rank returns the rank of a virtual rank.
func (t *team) rank(vrank int) int {
	if vrank < t.spare {
		return 2*vrank + 1
	}
	return vrank + t.spare
}

// fold sends the contributions of the absent ranks to members of the team.
func fold[T any](n Net, t team, p *partial[T]) (absent bool, err error) {
	rank := n.Rank()
	switch {
	case t.absent(rank):
		return true, n.Send(bytes(p.have), rank+1)
	case rank < 2*t.spare:
		if err := n.Recv(bytes(p.free()), rank-1); err != nil {
			return false, err
		}
		p.lower(0, len(p.have))
	}
	return false, nil
}

// unfold sends the result to the absent ranks.
func unfold(n Net, t team, out []byte) error {
	rank := n.Rank()
	switch {
	case t.absent(rank):
		return n.Recv(out, rank+1)
	case rank < 2*t.spare:
		return n.Send(out, rank-1)
	}
	return nil
}

// window is the range of elements of the result that a rank has, and the ranges that it was cut out of. Level 0 is all
// elements.
type window struct {
	from, to int
	outer    [32][2]int
	level    int
}

// cut halves the window; high takes the upper half. It returns the other one.
func (w *window) cut(high bool) (from, to int) {
	w.outer[w.level] = [2]int{w.from, w.to}
	w.level++
	middle := w.from + (w.to-w.from)/2
	if high {
		from, to, w.from = w.from, middle, middle
		return from, to
	}
	from, to, w.to = middle, w.to, middle
	return from, to
}

// widen undoes a cut. It returns the other half.
func (w *window) widen() (from, to int) {
	w.level--
	outer := w.outer[w.level]
	if from, to = w.to, outer[1]; w.from != outer[0] {
		from, to = outer[0], w.from
	}
	w.from, w.to = outer[0], outer[1]
	return from, to
}

// halve is a reduce-scatter by recursive halving: in each round the ranks of a pair exchange halves of their window and
// combine them. The distance of the pairs is 1 at first and doubles each round, so that each partial result is that of
// consecutive ranks.
func halve[T any](n Net, t team, p *partial[T]) (w window, err error) {
	w.to = len(p.have)
	for bit := 1; bit < t.size; bit <<= 1 {
		high := t.vrank&bit != 0
		from, to := w.cut(high)
		with := t.rank(t.vrank ^ bit)
		if err := combineHalf(n, p, with, p.have[from:to], w.from, w.to, high); err != nil {
			return w, err
		}
	}
	return w, nil
}

// combineHalf sends a half to a rank, and combines elements from..to with those that it sends.
func combineHalf[T any](n Net, p *partial[T], with int, send []T, from, to int, high bool) error {
	if err := swapSegments(n, bytes(send), bytes(p.free()[from:to]), with); err != nil {
		return err
	}
	if high {
		p.lower(from, to)
	} else {
		p.higher(from, to)
	}
	return nil
}

// longestCut is the length in bytes up to which a half is sent in segments. A longer one is sent by rendezvous.
const longestCut = 1 << 20

// cutLength returns the length of the segments of a half.
func cutLength(bytes int) int {
	if bytes > longestCut {
		return bytes
	}
	return smallSegment
}

// swapSegments exchanges halves with a rank, in segments that are sent eagerly.
func swapSegments(n Net, send, recv []byte, with int) error {
	sendCut, recvCut := cutLength(len(send)), cutLength(len(recv))
	for len(recv) > 0 {
		in := recv[:min(recvCut, len(recv))]
		if err := n.Irecv(in, with); err != nil {
			return err
		}
		recv = recv[len(in):]
	}
	for len(send) > 0 {
		out := send[:min(sendCut, len(send))]
		if err := n.Isend(out, with); err != nil {
			return err
		}
		send = send[len(out):]
	}
	return n.WaitAll()
}

// allgatherHalves undoes the cuts of halve by recursive doubling: all ranks of the team get the whole. unit is the
// size of an element.
func allgatherHalves(n Net, t team, out []byte, w window, unit int) error {
	for bit := t.size >> 1; bit > 0; bit >>= 1 {
		mine := out[w.from*unit : w.to*unit]
		from, to := w.widen()
		with := t.rank(t.vrank ^ bit)
		if err := swapSegments(n, mine, out[from*unit:to*unit], with); err != nil {
			return err
		}
	}
	return nil
}

// gatherHalves is allgatherHalves with one receiver: only virtual rank to gets the whole.
func gatherHalves(n Net, t team, out []byte, w window, to, unit int) error {
	for bit := t.size >> 1; bit > 0; bit >>= 1 {
		mine := out[w.from*unit : w.to*unit]
		from, until := w.widen()
		with := t.rank(t.vrank ^ bit)
		if (t.vrank^to)&bit != 0 {
			return n.Send(mine, with)
		}
		if err := n.Recv(out[from*unit:until*unit], with); err != nil {
			return err
		}
	}
	return nil
}
