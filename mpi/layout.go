package mpi

import (
	"fmt"
	"math"
	"math/bits"
)

// Layout says which elements of a buffer belong to a message, and in which order (a derived datatype of MPI). It is
// made once and may be used any number of times, by any goroutine. If its arguments were invalid, the call that uses it
// returns the error, and until then it is a layout of no elements. Vector and Subarray take little memory and time,
// whatever the number of blocks.
type Layout struct {
	listed []block  // the blocks, or nil: then they are all alike
	one    block    // the first of those
	repeat []repeat // and where the others are, the innermost repetition last
	blocks int
	count  int // elements
	extent int // elements that a buffer must have
	wrong  error
}

// block is elements that lie one behind the other.
type block struct{ at, n int }

// repeat is how often something comes, and how far apart.
type repeat struct{ times, stride int }

// Contiguous is n elements from the first on (MPI_Type_contiguous).
func Contiguous(n int) Layout {
	if n < 0 {
		return Layout{wrong: fmt.Errorf("%d elements", n)}
	}
	return Vector(1, n, n)
}

// Vector is count blocks of blocklen elements, whose beginnings are stride elements apart
// (MPI_Type_vector). ErrArg if one of them is negative, or if there are more elements, or they reach farther, than an int can count.
func Vector(count, blocklen, stride int) Layout {
	if count < 0 || blocklen < 0 || stride < 0 {
		return Layout{wrong: fmt.Errorf("a vector of %d blocks of %d elements, %d apart", count, blocklen, stride)}
	}
	if count == 0 || blocklen == 0 {
		return Layout{}
	}
	elements, fits := times(count, blocklen)
	way, near := times(count-1, stride)
	if !fits || !near || way > math.MaxInt-blocklen {
		return Layout{wrong: fmt.Errorf("a vector of %d blocks of %d elements, %d apart, is longer than an int can count", count, blocklen, stride)}
	}
	l := Layout{one: block{0, blocklen}, blocks: 1, count: elements, extent: way + blocklen}
	l.again(count, stride)
	return l
}

// Indexed is a block for each pair of length and displacement, in elements (MPI_Type_indexed). ErrArg if one of them is
// negative, if there are not as many of both, or if there are more elements, or they reach farther, than an int can count.
func Indexed(lens, displs []int) Layout {
	if len(lens) != len(displs) {
		return Layout{wrong: fmt.Errorf("%d lengths and %d displacements", len(lens), len(displs))}
	}
	var l Layout
	for i, n := range lens {
		if n < 0 || displs[i] < 0 {
			return Layout{wrong: fmt.Errorf("block %d has %d elements, from %d on", i, n, displs[i])}
		}
		if displs[i] > math.MaxInt-n || l.count > math.MaxInt-n {
			return Layout{wrong: fmt.Errorf("block %d, of %d elements from %d on, behind %d others, goes beyond what an int can count", i, n, displs[i], l.count)}
		}
		l.add(displs[i], n)
	}
	l.blocks = len(l.listed)
	return l
}

// Subarray is the part of an array of so many dimensions that has the given sizes and begins at starts; the last
// index runs fastest (MPI_Type_create_subarray with MPI_ORDER_C). ErrArg if the part does not lie in the array, if the
// arguments are not of one length, or if the array has more elements than an int can count.
func Subarray(sizes, subsizes, starts []int) Layout {
	dims := len(sizes)
	if dims == 0 || len(subsizes) != dims || len(starts) != dims {
		return Layout{wrong: fmt.Errorf("%d sizes, %d sizes of the part and %d starts", dims, len(subsizes), len(starts))}
	}
	empty := false
	for d, size := range sizes {
		if size < 0 || subsizes[d] < 0 || starts[d] < 0 || subsizes[d] > size || starts[d] > size-subsizes[d] {
			return Layout{wrong: fmt.Errorf("dimension %d: %d elements from %d on are not within %d", d, subsizes[d], starts[d], size)}
		}
		empty = empty || subsizes[d] == 0
	}
	if empty {
		return Layout{}
	}
	l := Layout{one: block{0, 1}, blocks: 1, count: 1, extent: 1}
	whole, fits := 1, true // elements of the inner dimensions: nothing below is more than all have
	for d := dims - 1; d >= 0; d-- {
		stride := whole
		if whole, fits = times(whole, sizes[d]); !fits {
			return Layout{wrong: fmt.Errorf("an array of %v has more elements than an int can count", sizes)}
		}
		l.one.at += starts[d] * stride
		l.count *= subsizes[d]
		l.extent += (starts[d] + subsizes[d] - 1) * stride
		l.again(subsizes[d], stride)
	}
	return l
}

// times multiplies what is not negative. False: the product is more than an int can count.
func times(a, b int) (product int, fits bool) {
	high, low := bits.Mul(uint(a), uint(b))
	return int(low), high == 0 && low <= math.MaxInt
}

// add appends a block to the list, or to its last one if it continues that.
func (l *Layout) add(at, n int) {
	if n == 0 {
		return
	}
	l.count += n
	l.extent = max(l.extent, at+n)
	if last := len(l.listed) - 1; last >= 0 && l.listed[last].at+l.listed[last].n == at {
		l.listed[last].n += n
		return
	}
	l.listed = append(l.listed, block{at, n})
}

// again repeats what there is of blocks that are alike. Those that continue each other become one.
func (l *Layout) again(n, stride int) {
	switch {
	case n == 1:
	case l.blocks == 1 && stride == l.one.n:
		l.one.n *= n
	default:
		l.repeat = append([]repeat{{n, stride}}, l.repeat...)
		l.blocks *= n
	}
}

// rows says how the blocks are gone through: so many rows, each of so many blocks that are alike and stride elements apart.
func (l *Layout) rows() (rows, each, stride int) {
	if last := len(l.repeat) - 1; last >= 0 {
		return l.blocks / l.repeat[last].times, l.repeat[last].times, l.repeat[last].stride
	}
	return l.blocks, 1, 0
}

// first returns the first block of a row.
func (l *Layout) first(row int) block {
	if l.listed != nil {
		return l.listed[row]
	}
	k := l.one
	for d := len(l.repeat) - 2; d >= 0; d-- {
		k.at += row % l.repeat[d].times * l.repeat[d].stride
		row /= l.repeat[d].times
	}
	return k
}

// Count returns how many elements belong to a message.
func (l *Layout) Count() int { return l.count }

// Extent returns how many elements a buffer must have.
func (l *Layout) Extent() int { return l.extent }

// pack gathers the blocks of b.
func (l *Layout) pack(b []byte, size int) []byte {
	packed := make([]byte, 0, l.count*size)
	rows, each, stride := l.rows()
	for row := range rows {
		k := l.first(row)
		for range each {
			packed = append(packed, b[k.at*size:(k.at+k.n)*size]...)
			k.at += stride
		}
	}
	return packed
}

// unpack scatters bytes to the blocks of b.
func (l *Layout) unpack(b, packed []byte, size int) {
	rows, each, stride := l.rows()
	for row := 0; row < rows && len(packed) > 0; row++ {
		k := l.first(row)
		for i := 0; i < each && len(packed) > 0; i++ {
			packed = packed[copy(b[k.at*size:(k.at+k.n)*size], packed):]
			k.at += stride
		}
	}
}

// segments appends the blocks of b to a gather list.
func (l *Layout) segments(segs [][]byte, b []byte, size int) [][]byte {
	rows, each, stride := l.rows()
	for row := range rows {
		k := l.first(row)
		for range each {
			segs = append(segs, b[k.at*size:(k.at+k.n)*size])
			k.at += stride
		}
	}
	return segs
}
