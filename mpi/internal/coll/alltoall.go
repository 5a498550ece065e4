package coll

// exchangedAtOnce is up to how long parts are sent before any is waited for: a receive is then posted only if its message is
// not there yet. Longer ones travel while the ranks copy their own parts.
const exchangedAtOnce = 4 << 10

// Alltoall sends part i of send to rank i, and receives what rank i sends in part i of
// recv. send and recv share no memory. Only parts that are alike, on both sides, travel by Bruck's
// algorithm.
func Alltoall(n Net, send []byte, sp *Parts, recv []byte, rp *Parts, a Algorithm) error {
	if a == Scattered {
		return alltoallScattered(n, send, sp, recv, rp)
	}
	if sp.alike() && rp.alike() {
		switch a {
		case Bruck:
			return alltoallBruck(n, send, recv, sp.Length(0))
		case GatherScatter:
			return alltoallAtZero(n, send, recv, sp.Length(0))
		}
	}
	return alltoallPairwise(n, send, sp, recv, rp)
}

func alltoallPairwise(n Net, send []byte, sp *Parts, recv []byte, rp *Parts) error {
	n.Connect()
	rank, size := n.Rank(), n.Size()
	Move(n, rp.Of(recv, rank), sp.Of(send, rank))
	for i := 1; i < size; i++ {
		to, from := (rank+i)%size, (rank-i+size)%size
		if err := n.Sendrecv(sp.Of(send, to), to, rp.Of(recv, from), from); err != nil {
			return err
		}
	}
	return nil
}

func alltoallScattered(n Net, send []byte, sp *Parts, recv []byte, rp *Parts) error {
	n.Connect()
	rank, size := n.Rank(), n.Size()
	if size == 2 {
		if out, in := sp.Of(send, 1-rank), rp.Of(recv, 1-rank); len(out) <= exchangedAtOnce && len(in) <= exchangedAtOnce {
			Move(n, rp.Of(recv, rank), sp.Of(send, rank))
			return n.Sendrecv(out, 1-rank, in, 1-rank)
		}
	}
	if sp.alike() && rp.alike() && sp.Length(0) <= exchangedAtOnce && rp.Length(0) <= exchangedAtOnce {
		return alltoallShort(n, send, sp, recv, rp)
	}
	for i := 1; i < size; i++ {
		from := (rank - i + size) % size
		if err := n.Irecv(rp.Of(recv, from), from); err != nil {
			return err
		}
	}
	for i := 1; i < size; i++ {
		to := (rank + i) % size
		if err := n.Isend(sp.Of(send, to), to); err != nil {
			return err
		}
	}
	Move(n, rp.Of(recv, rank), sp.Of(send, rank)) // the others fetch theirs meanwhile
	return n.WaitAll()
}

// alltoallShort has every rank send to all others, and then take what they have sent.
func alltoallShort(n Net, send []byte, sp *Parts, recv []byte, rp *Parts) error {
	rank, size := n.Rank(), n.Size()
	for i := 1; i < size; i++ {
		to := (rank + i) % size
		if err := n.Isend(sp.Of(send, to), to); err != nil {
			return err
		}
	}
	Move(n, rp.Of(recv, rank), sp.Of(send, rank))
	for i := 1; i < size; i++ {
		from := (rank - i + size) % size
		if err := n.Recv(rp.Of(recv, from), from); err != nil {
			return err
		}
	}
	return n.WaitAll()
}

// alltoallAtZero has rank 0 collect all that is sent, and hand out to each rank what is for it: few messages, and
// nobody but rank 0 hears from more than one.
func alltoallAtZero(n Net, send, recv []byte, length int) error {
	rank, size := n.Rank(), n.Size()
	if rank != 0 {
		if err := n.Send(send, 0); err != nil {
			return err
		}
		return n.Recv(recv, 0)
	}
	n.Connect()
	line := size * length
	came := n.Scratch(size * line)
	for from := 1; from < size; from++ {
		if err := n.Recv(came[from*line:(from+1)*line], from); err != nil {
			return err
		}
	}
	Move(n, came[:line], send)
	sorted := n.Scratch(size * line)
	for to := range size {
		for from := range size {
			Move(n, sorted[to*line+from*length:][:length], came[from*line+to*length:][:length])
		}
		if to == 0 {
			continue
		}
		if err := n.Isend(sorted[to*line:(to+1)*line], to); err != nil {
			return err
		}
	}
	Move(n, recv, sorted[:line])
	return n.WaitAll()
}

// alltoallBruck keeps at index i what has i ranks to go. In each round all that has an
// odd multiple of the round's distance to go travels that far.
func alltoallBruck(n Net, send, recv []byte, length int) error {
	rank, size := n.Rank(), n.Size()
	line := n.Scratch(size * length)
	half := (size + 1) / 2 * length
	packed, came := n.Scratch(half), n.Scratch(half)
	at := func(b []byte, i int) []byte { return b[i*length : (i+1)*length] }
	for i := range size {
		Move(n, at(line, i), at(send, rankAt(i, rank, size)))
	}
	for far := 1; far < size; far <<= 1 {
		end := 0
		for i := far; i < size; i++ {
			if i&far != 0 {
				end += Move(n, packed[end:], at(line, i))
			}
		}
		if err := n.Sendrecv(packed[:end], (rank+far)%size, came[:end], (rank-far+size)%size); err != nil {
			return err
		}
		end = 0
		for i := far; i < size; i++ {
			if i&far != 0 {
				end += Move(n, at(line, i), came[end:end+length])
			}
		}
	}
	for i := range size {
		Move(n, at(recv, vrankOf(rank, i, size)), at(line, i))
	}
	return nil
}
