package coll

// Scan combines in of the ranks up to and with this one into out. in may lie in out.
func Scan[T any](n Net, in, out []T, op func(acc, in []T), a Algorithm) error {
	if a == Linear {
		return scanLinear(n, in, out, op)
	}
	move(n, out, in)
	return prefix(n, out, scratchCopy(n, in), op, true)
}

// Exscan combines in of the ranks below this one into out; rank 0's is left as it is. in may
// lie in out.
func Exscan[T any](n Net, in, out []T, op func(acc, in []T), a Algorithm) error {
	if a == Linear {
		return exscanLinear(n, in, out, op)
	}
	return prefix(n, out, scratchCopy(n, in), op, false)
}

func scratchCopy[T any](n Net, in []T) []T {
	s := scratch[T](n, len(in))
	move(n, s, in)
	return s
}

func scanLinear[T any](n Net, in, out []T, op func(acc, in []T)) error {
	rank, size := n.Rank(), n.Size()
	if rank == 0 {
		move(n, out, in)
	} else {
		below := scratch[T](n, len(in))
		if err := n.Recv(bytes(below), rank-1); err != nil {
			return err
		}
		combine(n, op, below, in)
		move(n, out, below)
	}
	if rank+1 < size {
		return n.Send(bytes(out), rank+1)
	}
	return nil
}

func exscanLinear[T any](n Net, in, out []T, op func(acc, in []T)) error {
	rank, size := n.Rank(), n.Size()
	all := scratchCopy(n, in)
	if rank > 0 {
		below := scratch[T](n, len(in))
		if err := n.Recv(bytes(below), rank-1); err != nil {
			return err
		}
		move(n, out, below)
		combine(n, op, below, all)
		all = below
	}
	if rank+1 < size {
		return n.Send(bytes(all), rank+1)
	}
	return nil
}

// prefix exchanges what groups have combined, which double each round. group is the
// contribution at first; out has it too, if there is anything in out yet.
func prefix[T any](n Net, out, group []T, op func(acc, in []T), started bool) error {
	rank, size := n.Rank(), n.Size()
	came, both := scratch[T](n, len(out)), scratch[T](n, len(out))
	for bit := 1; bit < size; bit <<= 1 {
		with := rank ^ bit
		if with >= size {
			continue
		}
		if err := n.Sendrecv(bytes(group), with, bytes(came), with); err != nil {
			return err
		}
		if with > rank {
			combine(n, op, group, came)
			continue
		}
		move(n, both, came)
		if started {
			combine(n, op, both, out)
			move(n, out, both)
			move(n, both, came)
		} else {
			move(n, out, came)
			started = true
		}
		combine(n, op, both, group)
		group, both = both, group
	}
	return nil
}
