package main

import (
	"encoding/binary"
	"math"
)

// The plate, in cells. A frame is the number of the step in 8 bytes, then a byte for each
// cell, row by row.
const (
	width, height = 72, 24
	stampSize     = 8
	frameSize     = stampSize + width*height
)

// plate is a plate with cold edges, and a flame that goes round on it.
type plate struct {
	now, next [height][width]float64
	steps     uint64
}

func (p *plate) init() { p.heat() }

// heat puts the flame where it is at this step.
func (p *plate) heat() {
	angle := float64(p.steps) / 500
	x := width/2 + int(math.Round(width/3*math.Cos(angle)))
	y := height/2 + int(math.Round(height/3*math.Sin(angle)))
	p.now[y][x] = 1
	p.now[y][x+1] = 1
}

// step lets some heat go from each cell to its neighbours.
func (p *plate) step() {
	for y := 1; y < height-1; y++ {
		for x := 1; x < width-1; x++ {
			around := p.now[y-1][x] + p.now[y+1][x] + p.now[y][x-1] + p.now[y][x+1]
			p.next[y][x] = p.now[y][x] + 0.2*(around-4*p.now[y][x])
		}
	}
	p.now, p.next = p.next, p.now
	p.steps++
	p.heat()
}

// frame writes a frame.
func (p *plate) frame(b []byte) {
	binary.LittleEndian.PutUint64(b, p.steps)
	for y := range height {
		for x := range width {
			b[stampSize+y*width+x] = byte(math.Sqrt(p.now[y][x]) * 255)
		}
	}
}
