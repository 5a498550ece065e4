package main

import (
	"fmt"

	"gomx/mpi"
)

// plate is a rank's rectangle, with a frame around it: cells of the neighbours, and at the edges of the plate what lies beyond. In
// each step a cell becomes one more than the mean of its four neighbours. It begins as the sum of its row and twice its column, so that
// after any number of steps it must be exactly that and the number.
type plate struct {
	cart          *mpi.Cart
	top, left     int // where on the plate the rectangle begins
	height, width int // of the rectangle, without its frame
	stride        int // from one row to the next
	step          int
	now, next     []float64
	sides         [4]side
	requests      [8]mpi.Request
}

// side is one of the four of a rectangle: who is there, where the own cells along it begin, where those of the frame, and how both lie in memory.
type side struct {
	rank        int
	edge, frame int
	layout      mpi.Layout
}

func newPlate(world *mpi.Comm, cells int) (*plate, error) {
	grid := make([]int, 2)
	if err := mpi.Dims(world.Size(), grid); err != nil {
		return nil, err
	}
	if cells%grid[0] != 0 || cells%grid[1] != 0 {
		return nil, fmt.Errorf("%d cells can't be divided among %d x %d ranks", cells, grid[0], grid[1])
	}
	cart, err := world.Cart(grid, []bool{false, false}, false)
	if err != nil {
		return nil, err
	}
	at, err := cart.Coords(cart.Rank())
	if err != nil {
		return nil, err
	}
	p := &plate{cart: cart, height: cells / grid[0], width: cells / grid[1]}
	p.top, p.left, p.stride = at[0]*p.height, at[1]*p.width, p.width+2
	p.now = make([]float64, (p.height+2)*p.stride)
	p.next = make([]float64, len(p.now))
	for i := range p.now {
		p.now[i] = p.want(i)
	}
	copy(p.next, p.now)
	return p, p.findSides()
}

// want is what a cell must be now.
func (p *plate) want(i int) float64 {
	return float64(p.top + i/p.stride + 2*(p.left+i%p.stride) + p.step)
}

// findSides finds those above, below, to the left and to the right. A row lies in one piece; the cells of a column are a row apart.
func (p *plate) findSides() error {
	row, column := mpi.Contiguous(p.width), mpi.Vector(p.height, 1, p.stride)
	first, last := p.stride+1, p.height*p.stride+1
	above, below, err := p.cart.Shift(0, 1)
	if err != nil {
		return err
	}
	before, after, err := p.cart.Shift(1, 1)
	p.sides = [4]side{
		{above, first, first - p.stride, row},
		{below, last, last + p.stride, row},
		{before, first, first - 1, column},
		{after, first + p.width - 1, first + p.width, column},
	}
	return err
}

func (p *plate) steps(count int) error {
	for range count {
		if err := p.exchange(); err != nil {
			return err
		}
		p.update()
	}
	return nil
}

// exchange sends the cells along all sides and receives those of the frame. Messages to one side have its number as
// tag, and come in at the opposite one.
func (p *plate) exchange() (err error) {
	for i, s := range p.sides {
		if p.requests[i], err = mpi.IrecvLayout(p.cart.Comm, p.now[s.frame:], s.layout, s.rank, i^1); err != nil {
			return err
		}
	}
	for i, s := range p.sides {
		if p.requests[4+i], err = mpi.IsendLayout(p.cart.Comm, p.now[s.edge:], s.layout, s.rank, i); err != nil {
			return err
		}
	}
	return mpi.WaitAll(p.requests[:], nil)
}

// update computes all cells, and those of the frame beyond the edges of the plate.
func (p *plate) update() {
	for row := 1; row <= p.height; row++ {
		begin, n := row*p.stride+1, p.width
		next := p.next[begin:][:n]
		above, below := p.now[begin-p.stride:][:n], p.now[begin+p.stride:][:n]
		before, after := p.now[begin-1:][:n], p.now[begin+1:][:n]
		for i := range next {
			next[i] = (above[i]+below[i]+before[i]+after[i])/4 + 1
		}
	}
	p.step++
	for i, s := range p.sides {
		if s.rank != mpi.ProcNull {
			continue
		}
		n, apart := p.width, 1
		if i >= 2 {
			n, apart = p.height, p.stride
		}
		for k := range n {
			p.next[s.frame+k*apart] = p.want(s.frame + k*apart)
		}
	}
	p.now, p.next = p.next, p.now
}

// check compares all cells of the rectangle with what they must be.
func (p *plate) check() error {
	for row := 1; row <= p.height; row++ {
		for column := 1; column <= p.width; column++ {
			if i := row*p.stride + column; p.now[i] != p.want(i) {
				return fmt.Errorf("rank %d, step %d, row %d, column %d: %v, not %v", p.cart.Rank(), p.step, row, column, p.now[i], p.want(i))
			}
		}
	}
	return nil
}
