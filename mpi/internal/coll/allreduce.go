package coll

import "gomx/mpi/internal/elem"

// Allreduce combines in of all ranks, of the same length, into out of all ranks. in may
// lie in out.
func Allreduce[T any](n Net, in, out []T, op func(acc, in []T), a Algorithm) error {
	if n.Size() == 1 {
		move(n, out, in)
		return nil
	}
	switch a {
	case ReduceBcast, FlatReduceBcast:
		return allreduceAtZero(n, in, out, op, a)
	case Scattered:
		return allreduceScattered(n, in, out, op)
	case Pairwise:
		return allreducePairwise(n, in, out, op)
	case Rabenseifner:
		return allreduceRabenseifner(n, in, out, op)
	}
	return allreduceDoubling(n, in, out, op)
}

func allreduceAtZero[T any](n Net, in, out []T, op func(acc, in []T), a Algorithm) error {
	down, up := Binomial, Binomial
	if a == FlatReduceBcast {
		down, up = Flat, Flat
	}
	if err := Reduce(n, in, out, 0, op, down); err != nil {
		return err
	}
	return Bcast(n, bytes(out), 0, up)
}

// allreduceScattered has every rank combine what all have sent to it.
func allreduceScattered[T any](n Net, in, out []T, op func(acc, in []T)) error {
	in = apart(n, in, out)
	if err := sendAll(n, bytes(in)); err != nil {
		return err
	}
	if err := combineAll(n, in, out, op); err != nil {
		return err
	}
	return n.WaitAll()
}

// allreducePairwise has every rank combine its part of all contributions, and send it to all.
func allreducePairwise[T any](n Net, in, out []T, op func(acc, in []T)) error {
	rank, size, unit := n.Rank(), n.Size(), elem.Size[T]()
	p := split(len(out), unit, size)
	n.Connect()
	for i := 1; i < size; i++ {
		to := (rank + i) % size
		if err := n.Isend(p.Of(bytes(in), to), to); err != nil {
			return err
		}
	}
	from, to := p.bounds(rank)
	own := out[from/unit : to/unit]
	combined := scratch[T](n, len(own))
	if err := combineAll(n, in[from/unit:to/unit], combined, op); err != nil {
		return err
	}
	if err := n.WaitAll(); err != nil { // before what was sent is overwritten, which may lie in out
		return err
	}
	move(n, own, combined)
	for i := 1; i < size; i++ {
		from := (rank + size - i) % size
		if err := n.Irecv(p.Of(bytes(out), from), from); err != nil {
			return err
		}
	}
	if err := sendAll(n, bytes(combined)); err != nil {
		return err
	}
	return n.WaitAll()
}

func allreduceDoubling[T any](n Net, in, out []T, op func(acc, in []T)) error {
	t := teamOf(n)
	var p partial[T]
	p.begin(n, in, out, op)
	absent, err := fold(n, t, &p)
	if err != nil {
		return err
	}
	if !absent {
		for bit := 1; bit < t.size; bit <<= 1 {
			with := t.rank(t.vrank ^ bit)
			if err := n.Sendrecv(bytes(p.have), with, bytes(p.free()), with); err != nil {
				return err
			}
			if t.vrank&bit != 0 {
				p.lower(0, len(in))
			} else {
				p.higher(0, len(in))
			}
		}
		p.finish(out, 0, len(in))
	}
	return unfold(n, t, bytes(out))
}

func allreduceRabenseifner[T any](n Net, in, out []T, op func(acc, in []T)) error {
	t := teamOf(n)
	var p partial[T]
	p.begin(n, in, out, op)
	absent, err := fold(n, t, &p)
	if err != nil {
		return err
	}
	if !absent {
		w, err := halve(n, t, &p)
		if err != nil {
			return err
		}
		p.finish(out, w.from, w.to)
		if err := allgatherHalves(n, t, bytes(out), w, elem.Size[T]()); err != nil {
			return err
		}
	}
	return unfold(n, t, bytes(out))
}
