package coll

// toldAtOnce is up to how many bytes rank 0 tells all others itself what it has gathered: nobody's turn then ends before it
// has passed them on.
const toldAtOnce = 4 << 10

// Allgather collects own of all ranks in all of all ranks, where p says. Only parts that
// are alike are collected by recursive doubling, and for a power of two ranks, or at rank 0.
func Allgather(n Net, own, all []byte, p Parts, a Algorithm) error {
	rank, size := n.Rank(), n.Size()
	if a == Scattered {
		return allgatherScattered(n, own, all, &p)
	}
	Move(n, p.Of(all, rank), own)
	switch {
	case size == 1:
		return nil
	case a == Bruck:
		return allgatherBruck(n, all, &p)
	case a == GatherBcast && p.alike():
		if err := Gather(n, p.Of(all, rank), all, p, 0, Flat); err != nil {
			return err
		}
		_, end := p.bounds(size - 1)
		if end <= toldAtOnce {
			return bcastFlat(n, all[:end], 0)
		}
		return bcastBinomial(n, all[:end], 0)
	case a == RecursiveDoubling && p.alike() && size&(size-1) == 0:
		return allgatherDoubling(n, all, &p)
	}
	return passRound(n, all, &p)
}

// allgatherScattered has every rank send its part to all others at once, from where the program has it.
func allgatherScattered(n Net, own, all []byte, p *Parts) error {
	n.Connect()
	rank, size := n.Rank(), n.Size()
	for far := 1; far < size; far++ {
		from := rankAt(size-far, rank, size)
		if err := n.Irecv(p.Of(all, from), from); err != nil {
			return err
		}
	}
	if err := sendAll(n, own); err != nil {
		return err
	}
	Move(n, p.Of(all, rank), own) // the others fetch it meanwhile
	return n.WaitAll()
}

func allgatherDoubling(n Net, all []byte, p *Parts) error {
	rank, size := n.Rank(), n.Size()
	for bit := 1; bit < size; bit <<= 1 {
		mine := rank &^ (bit - 1)
		theirs := mine ^ bit
		if err := n.Sendrecv(all[mine*p.count:(mine+bit)*p.count], rank^bit, all[theirs*p.count:(theirs+bit)*p.count], rank^bit); err != nil {
			return err
		}
	}
	return nil
}

// allgatherBruck collects the parts in a line that begins with the rank's own, and which
// doubles in every round, and puts them where they belong at the end.
func allgatherBruck(n Net, all []byte, p *Parts) error {
	rank, size := n.Rank(), n.Size()
	total := 0
	for r := range size {
		total += p.Length(r)
	}
	line := n.Scratch(total)
	filled := Move(n, line, p.Of(all, rank))
	for have := 1; have < size; have <<= 1 {
		count := min(have, size-have)
		send, recv := 0, 0
		for i := range count {
			send += p.Length(rankAt(i, rank, size))
			recv += p.Length(rankAt(have+i, rank, size))
		}
		to, from := rankAt(size-have, rank, size), rankAt(have, rank, size)
		if err := n.Sendrecv(line[:send], to, line[filled:filled+recv], from); err != nil {
			return err
		}
		filled += recv
	}
	for i := range size {
		r := rankAt(i, rank, size)
		line = line[Move(n, p.Of(all, r), line):]
	}
	return nil
}

// passRound has the parts of all go round among the ranks, until each has all.
func passRound(n Net, all []byte, p *Parts) error {
	rank, size := n.Rank(), n.Size()
	from, to := (rank+size-1)%size, (rank+1)%size
	have := rank
	for range size - 1 {
		next := (have + size - 1) % size
		if err := n.Sendrecv(p.Of(all, have), to, p.Of(all, next), from); err != nil {
			return err
		}
		have = next
	}
	return nil
}
