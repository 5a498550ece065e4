package coll

// Gather collects own of all ranks in all of the root, where p says. all of others is not
// used. Only parts that are alike are collected along a tree.
func Gather(n Net, own, all []byte, p Parts, root int, a Algorithm) error {
	if a == Binomial && p.alike() {
		return gatherBinomial(n, own, all, root)
	}
	rank, size := n.Rank(), n.Size()
	if rank != root {
		return n.Send(own, root)
	}
	n.Connect()
	if p.longest(size) <= exchangedAtOnce {
		return gatherShort(n, own, all, &p, root)
	}
	for vrank := 1; vrank < size; vrank++ {
		from := rankAt(vrank, root, size)
		if err := n.Irecv(p.Of(all, from), from); err != nil {
			return err
		}
	}
	Move(n, p.Of(all, rank), own)
	return n.WaitAll()
}

// gatherShort takes one part after the other: a request for each would cost more than waiting in turn.
func gatherShort(n Net, own, all []byte, p *Parts, root int) error {
	size := n.Size()
	Move(n, p.Of(all, root), own)
	for vrank := 1; vrank < size; vrank++ {
		from := rankAt(vrank, root, size)
		if err := n.Recv(p.Of(all, from), from); err != nil {
			return err
		}
	}
	return nil
}

// gatherBinomial collects parts in the order of virtual ranks, which is the
// order of ranks if the root is rank 0.
func gatherBinomial(n Net, own, all []byte, root int) error {
	rank, size, length := n.Rank(), n.Size(), len(own)
	vrank, under, line := branch(n, all, length, root)
	Move(n, line[:length], own)
	for bit := 1; bit < under; bit <<= 1 {
		from, to := bit*length, min(2*bit, under)*length
		if err := n.Recv(line[from:to], rankAt(vrank+bit, root, size)); err != nil {
			return err
		}
	}
	if rank != root {
		return n.Send(line[:under*length], rankAt(vrank&(vrank-1), root, size))
	}
	if root != 0 {
		behind := root * length
		Move(n, all[behind:], line)
		Move(n, all[:behind], line[size*length-behind:])
	}
	return nil
}

// branch returns the virtual rank in a binomial tree, the size of its subtree, and a buffer for
// the parts of the subtree in the order of virtual ranks: all itself, where that is the order of ranks.
func branch(n Net, all []byte, length, root int) (vrank, under int, line []byte) {
	vrank = vrankOf(n.Rank(), root, n.Size())
	under = subtree(vrank, n.Size())
	if vrank == 0 && root == 0 {
		return vrank, under, all
	}
	return vrank, under, n.Scratch(under * length)
}

// subtree returns the number of ranks in the subtree of a virtual rank.
func subtree(vrank, size int) int {
	if vrank == 0 {
		return size
	}
	return min(vrank&-vrank, size-vrank)
}

// Scatter gives each rank, in own, its part of all of the root, which lies where p says. all of
// others is not used. Only parts that are alike are handed out along a tree.
func Scatter(n Net, all []byte, p Parts, own []byte, root int, a Algorithm) error {
	if a == Binomial && p.alike() {
		return scatterBinomial(n, all, own, root)
	}
	rank, size := n.Rank(), n.Size()
	if rank != root {
		return n.Recv(own, root)
	}
	n.Connect()
	for vrank := 1; vrank < size; vrank++ {
		to := rankAt(vrank, root, size)
		if err := n.Isend(p.Of(all, to), to); err != nil {
			return err
		}
	}
	Move(n, own, p.Of(all, rank))
	return n.WaitAll()
}

func scatterBinomial(n Net, all, own []byte, root int) error {
	rank, size, length := n.Rank(), n.Size(), len(own)
	vrank, under, line := branch(n, all, length, root)
	switch {
	case rank != root:
		if err := n.Recv(line[:under*length], rankAt(vrank&(vrank-1), root, size)); err != nil {
			return err
		}
	case root != 0:
		behind := root * length
		Move(n, line, all[behind:size*length])
		Move(n, line[size*length-behind:], all[:behind])
	}
	bit := 1
	for bit < under {
		bit <<= 1
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		from, to := bit*length, min(2*bit, under)*length
		if err := n.Isend(line[from:to], rankAt(vrank+bit, root, size)); err != nil {
			return err
		}
	}
	Move(n, own, line[:length])
	return n.WaitAll()
}
