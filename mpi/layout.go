package mpi

import "fmt"

// Layout says which elements of a buffer belong to a message, and in which order (a derived datatype
// of MPI). It is made once and used any number of times, by any goroutine. What is wrong with the
// arguments it was made with is the error of the call that uses it.
type Layout struct {
	blocks []block
	count  int // elements
	extent int // elements that a buffer must have
	wrong  error
}

// block is elements that lie one behind the other.
type block struct{ at, n int }

// Contiguous is n elements from the first on (MPI_Type_contiguous).
func Contiguous(n int) Layout { return Vector(1, n, n) }

// Vector is count blocks of blocklen elements, whose beginnings are stride elements apart
// (MPI_Type_vector).
func Vector(count, blocklen, stride int) Layout {
	if count < 0 || blocklen < 0 || stride < 0 {
		return Layout{wrong: fmt.Errorf("a vector of %d blocks of %d elements, %d apart", count, blocklen, stride)}
	}
	var l Layout
	for i := range count {
		l.add(i*stride, blocklen)
	}
	return l
}

// Indexed is a block for each pair of length and displacement, in elements (MPI_Type_indexed).
func Indexed(lens, displs []int) Layout {
	if len(lens) != len(displs) {
		return Layout{wrong: fmt.Errorf("%d lengths and %d displacements", len(lens), len(displs))}
	}
	var l Layout
	for i, n := range lens {
		if n < 0 || displs[i] < 0 {
			return Layout{wrong: fmt.Errorf("block %d has %d elements, from %d on", i, n, displs[i])}
		}
		l.add(displs[i], n)
	}
	return l
}

// Subarray is the part of an array of so many dimensions that has the given sizes and begins at starts; the last
// index runs fastest (MPI_Type_create_subarray with MPI_ORDER_C).
func Subarray(sizes, subsizes, starts []int) Layout {
	dims := len(sizes)
	if dims == 0 || len(subsizes) != dims || len(starts) != dims {
		return Layout{wrong: fmt.Errorf("%d sizes, %d sizes of the part and %d starts", dims, len(subsizes), len(starts))}
	}
	rows := 1
	for d := range dims {
		if subsizes[d] < 0 || starts[d] < 0 || starts[d]+subsizes[d] > sizes[d] {
			return Layout{wrong: fmt.Errorf("dimension %d: %d elements from %d on are not within %d", d, subsizes[d], starts[d], sizes[d])}
		}
		if d < dims-1 {
			rows *= subsizes[d]
		}
	}
	var l Layout
	for row := range rows {
		at, stride, rest := starts[dims-1], sizes[dims-1], row
		for d := dims - 2; d >= 0; d-- {
			at += (starts[d] + rest%subsizes[d]) * stride
			rest /= subsizes[d]
			stride *= sizes[d]
		}
		l.add(at, subsizes[dims-1])
	}
	return l
}

// add appends a block, to the last one if it continues that.
func (l *Layout) add(at, n int) {
	if n == 0 {
		return
	}
	l.count += n
	l.extent = max(l.extent, at+n)
	if last := len(l.blocks) - 1; last >= 0 && l.blocks[last].at+l.blocks[last].n == at {
		l.blocks[last].n += n
		return
	}
	l.blocks = append(l.blocks, block{at, n})
}

// Count returns how many elements belong to a message.
func (l *Layout) Count() int { return l.count }

// Extent returns how many elements a buffer must have.
func (l *Layout) Extent() int { return l.extent }

// pack gathers the blocks of b.
func (l *Layout) pack(b []byte, size int) []byte {
	packed := make([]byte, 0, l.count*size)
	for _, k := range l.blocks {
		packed = append(packed, b[k.at*size:(k.at+k.n)*size]...)
	}
	return packed
}

// unpack spreads bytes over the blocks of b.
func (l *Layout) unpack(b, packed []byte, size int) {
	for _, k := range l.blocks {
		packed = packed[copy(b[k.at*size:(k.at+k.n)*size], packed):]
	}
}

// segments appends the blocks of b to a gather list.
func (l *Layout) segments(segs [][]byte, b []byte, size int) [][]byte {
	for _, k := range l.blocks {
		segs = append(segs, b[k.at*size:(k.at+k.n)*size])
	}
	return segs
}
