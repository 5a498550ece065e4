package coll

import "math/bits"

// team are the ranks that take part in rounds of pairs: a power of two. Of the first
// ranks, 2*spare of them, the even ones have handed what they have to the rank above, and
// are absent. Places in the team are in the order of the ranks.
type team struct {
	place, size, spare int
}

func teamOf(n Net) team {
	t := team{size: 1 << (bits.Len(uint(n.Size())) - 1)}
	t.spare = n.Size() - t.size
	t.place = t.placeOf(n.Rank())
	return t
}

func (t *team) absent(rank int) bool { return rank < 2*t.spare && rank&1 == 0 }

// placeOf returns the place of a rank, or of the one that stands for it.
func (t *team) placeOf(rank int) int {
	if rank < 2*t.spare {
		return rank / 2
	}
	return rank - t.spare
}

// rank returns who is at a place.
func (t *team) rank(place int) int {
	if place < t.spare {
		return 2*place + 1
	}
	return place + t.spare
}

// fold has the absent ranks hand over what they have.
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

// unfold gives the absent ranks the result.
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

// window is the part of the result that a rank has, elements, with those that it was cut
// out of: level 0 is the whole.
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

// halve has pairs exchange halves of what they have and combine them. The pairs are
// neighbours at first, and then of twice the distance each round, so that what is combined
// always comes of ranks next to each other.
func halve[T any](n Net, t team, p *partial[T]) (w window, err error) {
	w.to = len(p.have)
	for bit := 1; bit < t.size; bit <<= 1 {
		high := t.place&bit != 0
		from, to := w.cut(high)
		with := t.rank(t.place ^ bit)
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

// longestCut is up to which length a half goes in segments: a longer one is worth fetching.
const longestCut = 1 << 20

// cutLength is how much of so many bytes goes at a time.
func cutLength(bytes int) int {
	if bytes > longestCut {
		return bytes
	}
	return smallSegment
}

// swapSegments exchanges with a rank in segments that leave at once.
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

// spread undoes the cuts of halve: all of the team have the whole in the end. unit is the
// size of an element.
func spread(n Net, t team, out []byte, w window, unit int) error {
	for bit := t.size >> 1; bit > 0; bit >>= 1 {
		mine := out[w.from*unit : w.to*unit]
		from, to := w.widen()
		with := t.rank(t.place ^ bit)
		if err := swapSegments(n, mine, out[from*unit:to*unit], with); err != nil {
			return err
		}
	}
	return nil
}

// collect is spread for the one at a place alone.
func collect(n Net, t team, out []byte, w window, to, unit int) error {
	for bit := t.size >> 1; bit > 0; bit >>= 1 {
		mine := out[w.from*unit : w.to*unit]
		from, until := w.widen()
		with := t.rank(t.place ^ bit)
		if (t.place^to)&bit != 0 {
			return n.Send(mine, with)
		}
		if err := n.Recv(out[from*unit:until*unit], with); err != nil {
			return err
		}
	}
	return nil
}
