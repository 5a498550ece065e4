package coll

// What is passed on at a time, bytes. A small segment leaves its sender at once, without a word from the
// receiver, which is what counts where ranks take turns. A large one is worth fetching.
const (
	smallSegment = 16 << 10
	segment      = 64 << 10
)

// Bcast copies b of the root into b of all others, which is of the same length.
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

// ahead returns which rank lies so many places behind the root, counting round.
func ahead(place, root, size int) int {
	if place += root; place >= size {
		place -= size
	}
	return place
}

// behind returns how many places a rank lies behind the root.
func behind(rank, root, size int) int {
	if rank -= root; rank < 0 {
		rank += size
	}
	return rank
}

func bcastBinomial(n Net, b []byte, root int) error {
	size := n.Size()
	place := behind(n.Rank(), root, size)
	bit := 1
	for ; bit < size; bit <<= 1 {
		if place&bit != 0 {
			if err := n.Recv(b, ahead(place-bit, root, size)); err != nil {
				return err
			}
			break
		}
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if place+bit < size {
			if err := n.Isend(b, ahead(place+bit, root, size)); err != nil {
				return err
			}
		}
	}
	return n.WaitAll()
}

func bcastFlat(n Net, b []byte, root int) error {
	rank, size := n.Rank(), n.Size()
	if rank != root {
		return n.Recv(b, root)
	}
	n.Connect()
	for place := 1; place < size; place++ {
		if err := n.Isend(b, ahead(place, root, size)); err != nil {
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

// bcastPipeline passes b on from rank to rank, a segment at a time.
func bcastPipeline(n Net, b []byte, root int) error {
	size := n.Size()
	place := behind(n.Rank(), root, size)
	from, to := ahead((place+size-1)%size, root, size), ahead((place+1)%size, root, size)
	first, last := place == 0, place == size-1
	var ready []byte // came in, and is to be passed on
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
