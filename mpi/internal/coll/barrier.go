package coll

// Barrier returns when all ranks have called it.
func Barrier(n Net, a Algorithm) error {
	switch a {
	case Tree:
		return Meet(n, nil)
	case Scattered:
		return tellAll(n)
	case Flat:
		if err := flatIn(n); err != nil {
			return err
		}
		return bcastFlat(n, nil, 0)
	}
	return disseminate(n)
}

// disseminate has every rank tell another one in each of log2(ranks) rounds.
func disseminate(n Net) error {
	rank, size := n.Rank(), n.Size()
	for far := 1; far < size; far <<= 1 {
		to, from := rank+far, rank-far
		if to >= size {
			to -= size
		}
		if from < 0 {
			from += size
		}
		if err := n.Sendrecv(nil, to, nil, from); err != nil {
			return err
		}
	}
	return nil
}

// Meet is Barrier by the Tree. Before a rank tells the others that it has come, which can't be taken back, it calls coming
// unless that is nil. If that fails, no rank has met the others.
func Meet(n Net, coming func() error) error {
	rank, size := n.Rank(), n.Size()
	bit := 1
	for ; bit < size && rank&bit == 0; bit <<= 1 {
		if rank+bit < size {
			if err := n.Recv(nil, rank+bit); err != nil {
				return err
			}
		}
	}
	if coming != nil {
		if err := Do(n, coming); err != nil {
			return err
		}
	}
	if rank != 0 {
		if err := n.Send(nil, rank-bit); err != nil {
			return err
		}
	}
	return bcastBinomial(n, nil, 0)
}

// flatIn returns at rank 0 when all ranks have called it.
func flatIn(n Net) error {
	if n.Rank() != 0 {
		return n.Send(nil, 0)
	}
	n.Connect()
	for from := 1; from < n.Size(); from++ {
		if err := n.Recv(nil, from); err != nil {
			return err
		}
	}
	return nil
}

// tellAll has every rank tell every other one.
func tellAll(n Net) error {
	if err := sendAll(n, nil); err != nil {
		return err
	}
	rank, size := n.Rank(), n.Size()
	for far := 1; far < size; far++ {
		if err := n.Recv(nil, (rank+size-far)%size); err != nil {
			return err
		}
	}
	return n.WaitAll()
}

// sendAll begins to send b to all others, the next rank first.
func sendAll(n Net, b []byte) error {
	n.Connect()
	rank, size := n.Rank(), n.Size()
	for far := 1; far < size; far++ {
		if err := n.Isend(b, (rank+far)%size); err != nil {
			return err
		}
	}
	return nil
}
