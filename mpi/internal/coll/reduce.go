package coll

import "gomx/mpi/internal/elem"

// Reduce combines in of all ranks, of the same length, into out of the root; out of others is not
// used. in may lie in out.
func Reduce[T any](n Net, in, out []T, root int, op func(acc, in []T), a Algorithm) error {
	rank := n.Rank()
	if rank != root {
		out = nil
	}
	switch {
	case a == Rabenseifner:
		return reduceRabenseifner(n, in, out, root, op)
	case a == Flat:
		return reduceFlat(n, in, out, root, op)
	case root == 0:
		return reduceTree(n, in, out, op)
	}
	// The tree keeps the order of ranks because rank 0 is its root.
	if rank == 0 {
		out = scratch[T](n, len(in))
	}
	if rank != root {
		if err := reduceTree(n, in, out, op); err != nil || rank != 0 {
			return err
		}
		return n.Send(bytes(out), root)
	}
	if err := reduceTree(n, in, nil, op); err != nil {
		return err
	}
	return n.Recv(bytes(out), 0)
}

// reduceTree combines along a binomial tree into out of rank 0. Others need none.
func reduceTree[T any](n Net, in, out []T, op func(acc, in []T)) error {
	rank, size := n.Rank(), n.Size()
	if rank&1 != 0 {
		return n.Send(bytes(in), rank-1)
	}
	if size == 1 {
		move(n, out, in)
		return nil
	}
	if out == nil {
		out = scratch[T](n, len(in))
	}
	var p partial[T]
	p.begin(n, in, out, op)
	for bit := 1; bit < size; bit <<= 1 {
		if rank&bit != 0 {
			return n.Send(bytes(p.have), rank-bit)
		}
		if rank+bit < size {
			if err := n.Recv(bytes(p.free()), rank+bit); err != nil {
				return err
			}
			p.higher(0, len(in))
		}
	}
	p.finish(out, 0, len(in))
	return nil
}

// reduceFlat has the root receive from all, and combine.
func reduceFlat[T any](n Net, in, out []T, root int, op func(acc, in []T)) error {
	if n.Rank() != root {
		return n.Send(bytes(in), root)
	}
	return combineAll(n, apart(n, in, out), out, op)
}

// apart returns in, or a copy if it lies in out.
func apart[T any](n Net, in, out []T) []T {
	if !elem.Same(in, out) {
		return in
	}
	kept := scratch[T](n, len(in))
	move(n, kept, in)
	return kept
}

// combineAll receives from all, and combines in the order of ranks. in does not lie in out.
func combineAll[T any](n Net, in, out []T, op func(acc, in []T)) error {
	n.Connect()
	came := scratch[T](n, len(in))
	for from := range n.Size() {
		part := came
		switch {
		case from == n.Rank():
			part = in
		case from == 0:
			part = out
		}
		if from != n.Rank() {
			if err := n.Recv(bytes(part), from); err != nil {
				return err
			}
		}
		switch {
		case from > 0:
			combine(n, op, out, part)
		case from == n.Rank():
			move(n, out, in)
		}
	}
	return nil
}

// reduceRabenseifner leaves each of a power of two ranks a part of the result, and
// collects the parts.
func reduceRabenseifner[T any](n Net, in, out []T, root int, op func(acc, in []T)) error {
	if n.Rank() != root {
		out = scratch[T](n, len(in))
	}
	t := teamOf(n)
	var p partial[T]
	p.begin(n, in, out, op)
	if absent, err := fold(n, t, &p); err != nil {
		return err
	} else if absent {
		if n.Rank() == root {
			return n.Recv(bytes(out), n.Rank()+1)
		}
		return nil
	}
	w, err := halve(n, t, &p)
	if err != nil {
		return err
	}
	p.finish(out, w.from, w.to)
	if err := gatherHalves(n, t, bytes(out), w, t.vrankOf(root), elem.Size[T]()); err != nil {
		return err
	}
	if t.absent(root) && n.Rank() == root+1 {
		return n.Send(bytes(out), root)
	}
	return nil
}
