package coll

import "gomx/mpi/internal/elem"

// bytes returns s as bytes. The caller of the operation has checked its type.
func bytes[T any](s []T) []byte { return elem.Memory(s) }

// scratch returns scratch memory for n elements.
func scratch[T any](n Net, count int) []T { return elem.Elements[T](n.Scratch(count * elem.Size[T]())) }

// partial is the partial result of a rank. have holds it. At first have is the rank's contribution, which must not be
// written; spare and other may be.
type partial[T any] struct {
	net                Net
	op                 func(acc, in []T)
	have, spare, other []T
	given              bool // have is the caller's, and must not be written
}

// begin makes the empty partial result that of a contribution, which may lie in out. finish puts the result into out.
func (p *partial[T]) begin(n Net, in, out []T, op func(acc, in []T)) {
	p.net, p.op, p.have, p.spare = n, op, in, scratch[T](n, len(in))
	if !elem.Same(in, out) {
		p.given, p.other = true, out
	}
}

// free returns the buffer that contributions may be received into.
func (p *partial[T]) free() []T { return p.spare }

// lower combines elements from..to with contributions of lower ranks, which are in free.
func (p *partial[T]) lower(from, to int) {
	combine(p.net, p.op, p.spare[from:to], p.have[from:to])
	p.turn()
}

// turn makes the buffer of free the partial result.
func (p *partial[T]) turn() {
	if p.given {
		p.have, p.spare, p.other, p.given = p.spare, p.other, nil, false
		return
	}
	p.have, p.spare = p.spare, p.have
}

// higher combines elements from..to with contributions of higher ranks, which are in free.
func (p *partial[T]) higher(from, to int) {
	p.own(from, to)
	combine(p.net, p.op, p.have[from:to], p.spare[from:to])
}

// own copies elements from..to of the partial result if they are the caller's, so that they may be written.
func (p *partial[T]) own(from, to int) {
	if p.given {
		move(p.net, p.other[from:to], p.have[from:to])
		p.have, p.other, p.given = p.other, nil, false
	}
}

// finish copies elements from..to of the result to out if they are not there.
func (p *partial[T]) finish(out []T, from, to int) {
	if !elem.Same(p.have, out) {
		move(p.net, out[from:to], p.have[from:to])
	}
}
