package coll

// Sizes of segments in bytes. A small segment is eager: it leaves without an answer of the receiver, which is faster where
// ranks share cores. A large one goes by rendezvous.
const (
	smallSegment = 16 << 10
	segment      = 64 << 10
)

// Bcast copies b of the root into b of all other ranks, which must have the same length.
func Bcast(n Net, b []byte, root int, a Algorithm) error {
	switch a {
	case Flat:
		return bcastFlat(n, b, root)
	case Pipeline:
		return bcastPipeline(n, b, root)
	case SmallBinomial:
		return bcastSegments(n, b, root)
	}
	return bcastBinomial(n, b, root)
}

// rankAt returns the rank that comes so many ranks after the root, wrapping around. That number is its virtual rank.
func rankAt(vrank, root, size int) int {
	if vrank += root; vrank >= size {
		vrank -= size
	}
	return vrank
}

// vrankOf returns the virtual rank of a rank: how many ranks it comes after the root, wrapping around.
func vrankOf(rank, root, size int) int {
	if rank -= root; rank < 0 {
		rank += size
	}
	return rank
}

func bcastBinomial(n Net, b []byte, root int) error {
	size := n.Size()
	vrank := vrankOf(n.Rank(), root, size)
	bit := 1
	for ; bit < size; bit <<= 1 {
		if vrank&bit != 0 {
			if err := n.Recv(b, rankAt(vrank-bit, root, size)); err != nil {
				return err
			}
			break
		}
	}
	started := false
	for bit >>= 1; bit > 1; bit >>= 1 {
		if vrank+bit < size {
			started = true
			if err := n.Isend(b, rankAt(vrank+bit, root, size)); err != nil {
				return err
			}
		}
	}
	if bit == 1 && vrank+1 < size { // the last one
		if err := n.Send(b, rankAt(vrank+1, root, size)); err != nil {
			return err
		}
	}
	if !started {
		return nil
	}
	return n.WaitAll()
}

func bcastFlat(n Net, b []byte, root int) error {
	rank, size := n.Rank(), n.Size()
	if rank != root {
		return n.Recv(b, root)
	}
	n.Connect()
	for vrank := 1; vrank < size; vrank++ {
		if err := n.Isend(b, rankAt(vrank, root, size)); err != nil {
			return err
		}
	}
	return n.WaitAll()
}

// bcastSegments sends one small segment after the other down a binomial tree.
func bcastSegments(n Net, b []byte, root int) error {
	for len(b) > 0 {
		next := b[:min(smallSegment, len(b))]
		if err := bcastBinomial(n, next, root); err != nil {
			return err
		}
		b = b[len(next):]
	}
	return nil
}

// bcastPipeline sends b along a chain of ranks, a segment at a time.
func bcastPipeline(n Net, b []byte, root int) error {
	size := n.Size()
	vrank := vrankOf(n.Rank(), root, size)
	from, to := rankAt((vrank+size-1)%size, root, size), rankAt((vrank+1)%size, root, size)
	first, last := vrank == 0, vrank == size-1
	var ready []byte // the segment that has arrived, and is to be sent on
	for len(b) > 0 || len(ready) > 0 {
		next := b[:min(segment, len(b))]
		b = b[len(next):]
		var err error
		switch {
		case first && !last:
			err = n.Send(next, to)
		case first: // alone
		case len(next) == 0:
			err = n.Send(ready, to)
		case len(ready) == 0:
			err = n.Recv(next, from)
		default:
			err = n.Sendrecv(ready, to, next, from)
		}
		if err != nil {
			return err
		}
		if ready = next; first || last {
			ready = nil
		}
	}
	return nil
}
