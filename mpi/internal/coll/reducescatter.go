package coll

// ReduceScatter combines in of all ranks, and leaves each rank in out its part of the
// result, which lies where p says. out may lie in in.
func ReduceScatter[T any](n Net, in, out []T, p Parts, op func(acc, in []T), a Algorithm) error {
	if a == Pairwise {
		return reducePairwise(n, in, out, &p, op)
	}
	var all []T
	if n.Rank() == 0 {
		all = scratch[T](n, len(in))
	}
	if err := Reduce(n, in, all, 0, op, Binomial); err != nil {
		return err
	}
	return Scatter(n, bytes(all), p, bytes(out), 0, Flat)
}

// reducePairwise has every rank send each other one its part, and combine its own.
func reducePairwise[T any](n Net, in, out []T, p *Parts, op func(acc, in []T)) error {
	rank, size, own := n.Rank(), n.Size(), len(out)
	all := scratch[T](n, own*size)
	at := func(rank int) []T { return all[rank*own : (rank+1)*own] }
	n.Connect()
	for i := 1; i < size; i++ {
		from := (rank - i + size) % size
		if err := n.Irecv(bytes(at(from)), from); err != nil {
			return err
		}
	}
	b := bytes(in)
	for i := 1; i < size; i++ {
		to := (rank + i) % size
		if err := n.Isend(p.Of(b, to), to); err != nil {
			return err
		}
	}
	Move(n, bytes(at(rank)), p.Of(b, rank))
	if err := n.WaitAll(); err != nil {
		return err
	}
	for rank := 1; rank < size; rank++ {
		combine(n, op, at(0), at(rank))
	}
	move(n, out, at(0))
	return nil
}
