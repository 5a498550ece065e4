package main

import (
	"fmt"
	"math"

	"gomx/examples/internal/block"
	"gomx/examples/internal/mix"
	"gomx/mpi"
)

// hot is how warm it is beyond the upper edge. Beyond the others, and on the plate at first, it
// is 0.
const hot = 100

// plate is a rank's rectangle of the plate, with a frame of cells around it: those of its
// neighbours, and at the edges of the plate what lies beyond.
type plate struct {
	cart          *mpi.Cart
	grid          []int // how many ranks there are from top to bottom, and from left to right
	columns       int   // of the whole plate
	top, left     int   // where on the plate this rectangle begins
	height, width int   // of the rectangle, without its frame
	stride        int   // from one row to the next
	now, next     []float64
	halos         [4]halo
	requests      [8]mpi.Request
	change        float64 // the largest of a cell in the last step
}

func newPlate(world *mpi.Comm, rows, columns int) (*plate, error) {
	p := &plate{grid: []int{0, 0}, columns: columns}
	if err := mpi.Dims(world.Size(), p.grid); err != nil {
		return nil, err
	}
	if rows < p.grid[0] || columns < p.grid[1] {
		return nil, fmt.Errorf("%d x %d cells are too few for %d x %d ranks", rows, columns, p.grid[0], p.grid[1])
	}
	var err error
	if p.cart, err = world.Cart(p.grid, []bool{false, false}, false); err != nil {
		return nil, err
	}
	at, err := p.cart.Coords(p.cart.Rank())
	if err != nil {
		return nil, err
	}
	top, bottom := block.Of(rows, at[0], p.grid[0])
	left, right := block.Of(columns, at[1], p.grid[1])
	p.top, p.left, p.height, p.width = top, left, bottom-top, right-left
	p.stride = p.width + 2
	p.now = make([]float64, (p.height+2)*p.stride)
	p.next = make([]float64, len(p.now))
	if top == 0 {
		for i := range p.stride {
			p.now[i], p.next[i] = hot, hot
		}
	}
	p.halos, err = p.neighbours()
	return p, err
}

// step makes one step of time. The cells that need no neighbours are computed while those of
// the neighbours travel.
func (p *plate) step() error {
	if err := p.startExchange(); err != nil {
		return err
	}
	p.change = 0
	p.update(2, p.height-1, 2, p.width-1)
	if err := mpi.WaitAll(p.requests[:], nil); err != nil {
		return err
	}
	p.update(1, 1, 1, p.width)
	p.update(p.height, p.height, 1, p.width)
	p.update(2, p.height-1, 1, 1)
	p.update(2, p.height-1, p.width, p.width)
	p.now, p.next = p.next, p.now
	return nil
}

// update computes the cells of the rows from top to bottom, between the columns left and right,
// those included. Each becomes the mean of its four neighbours.
func (p *plate) update(top, bottom, left, right int) {
	if left > right {
		return
	}
	change := p.change
	for row := top; row <= bottom; row++ {
		begin, n := row*p.stride+left, right-left+1
		next, here := p.next[begin:][:n], p.now[begin:][:n]
		above, below := p.now[begin-p.stride:][:n], p.now[begin+p.stride:][:n]
		before, after := p.now[begin-1:][:n], p.now[begin+1:][:n]
		for i := range next {
			mean := (above[i] + below[i] + before[i] + after[i]) / 4
			if c := math.Abs(mean - here[i]); c > change {
				change = c
			}
			next[i] = mean
		}
	}
	p.change = change
}

// checksum is this rank's part of the sum over all cells and their places.
func (p *plate) checksum() (sum uint64) {
	for row := range p.height {
		for column := range p.width {
			place := (p.top+row)*p.columns + p.left + column
			sum += mix.At(place, math.Float64bits(p.now[(row+1)*p.stride+column+1]))
		}
	}
	return sum
}
