package coll

import "gomx/mpi/internal/elem"

// bytes returns s as bytes. Its type was checked by whoever began the operation.
func bytes[T any](s []T) []byte { return elem.Memory(s) }

// scratch returns room for n elements.
func scratch[T any](n Net, count int) []T { return elem.Elements[T](n.Scratch(count * elem.Size[T]())) }

// partial is what a rank has combined so far. have holds it, which is the rank's
// contribution at first and may not be written then; spare and other can be.
type partial[T any] struct {
	net                Net
	op                 func(acc, in []T)
	have, spare, other []T
	given              bool // have is the caller's
}

// begin takes a contribution, which may lie in out. The result of finish is in out.
func begin[T any](n Net, in, out []T, op func(acc, in []T)) partial[T] {
	p := partial[T]{net: n, op: op, have: in, spare: scratch[T](n, len(in)), other: out, given: true}
	if elem.Same(in, out) {
		p.given, p.other = false, nil
	}
	return p
}

// free returns where something may be received.
func (p *partial[T]) free() []T { return p.spare }

// lower combines elements from..to with what lower ranks have sent into free.
func (p *partial[T]) lower(from, to int) {
	combine(p.net, p.op, p.spare[from:to], p.have[from:to])
	p.turn()
}

// turn has what was combined in free be what the rank has.
func (p *partial[T]) turn() {
	if p.given {
		p.have, p.spare, p.other, p.given = p.spare, p.other, nil, false
		return
	}
	p.have, p.spare = p.spare, p.have
}

// higher combines elements from..to with what higher ranks have sent into free.
func (p *partial[T]) higher(from, to int) {
	p.own(from, to)
	combine(p.net, p.op, p.have[from:to], p.spare[from:to])
}

// own has elements from..to of what the rank has lie where they may be written.
func (p *partial[T]) own(from, to int) {
	if p.given {
		move(p.net, p.other[from:to], p.have[from:to])
		p.have, p.other, p.given = p.other, nil, false
	}
}

// finish has elements from..to of the result lie in out.
func (p *partial[T]) finish(out []T, from, to int) {
	if !elem.Same(p.have, out) {
		move(p.net, out[from:to], p.have[from:to])
	}
}
