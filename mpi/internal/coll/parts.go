package coll

// Parts says where in a buffer the bytes of each rank lie.
type Parts struct {
	unit   int // bytes that counts and displs are in
	count  int // of each rank, if counts is nil
	counts []int
	displs []int
	ranks  int // of an even split: total units lie among so many
	total  int
}

// Equal are parts of the same length, in bytes, one behind the other.
func Equal(length int) Parts { return Parts{unit: 1, count: length} }

// Listed are parts of counts[i] elements, each of unit bytes, that begin at element
// displs[i]; one behind the other if displs is nil.
func Listed(counts, displs []int, unit int) Parts {
	return Parts{unit: unit, counts: counts, displs: displs}
}

// split are parts of nearly the same length of total elements.
func split(total, unit, ranks int) Parts {
	return Parts{unit: unit, ranks: ranks, total: total}
}

// alike reports whether the parts are of the same length and lie one behind the other.
func (p *Parts) alike() bool { return p.counts == nil && p.ranks == 0 }

// bounds returns where the part of a rank begins and ends, in bytes.
func (p *Parts) bounds(rank int) (from, to int) {
	switch {
	case p.ranks > 0:
		return p.total * rank / p.ranks * p.unit, p.total * (rank + 1) / p.ranks * p.unit
	case p.counts == nil:
		return rank * p.count * p.unit, (rank + 1) * p.count * p.unit
	case p.displs != nil && p.counts[rank] == 0:
		return 0, 0 // wherever it is said to lie
	case p.displs != nil:
		return p.displs[rank] * p.unit, (p.displs[rank] + p.counts[rank]) * p.unit
	}
	for _, n := range p.counts[:rank] {
		from += n
	}
	return from * p.unit, (from + p.counts[rank]) * p.unit
}

// Of returns the part of a rank.
func (p *Parts) Of(b []byte, rank int) []byte {
	from, to := p.bounds(rank)
	return b[from:to]
}

// Length returns the bytes of the part of a rank.
func (p *Parts) Length(rank int) int {
	from, to := p.bounds(rank)
	return to - from
}

// longest returns the bytes of the longest part of so many ranks.
func (p *Parts) longest(ranks int) (length int) {
	if p.alike() {
		return p.Length(0)
	}
	for rank := range ranks {
		length = max(length, p.Length(rank))
	}
	return length
}

// Total returns the bytes of the parts of so many ranks.
func (p *Parts) Total(ranks int) (total int) {
	for rank := range ranks {
		total += p.Length(rank)
	}
	return total
}
