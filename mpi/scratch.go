package mpi

import (
	"slices"
	"sync"

	"gomx/mx"
)

const (
	// largeScratch is from how many bytes on scratch memory is taken from the arena.
	largeScratch = 64 << 10

	// scratchKept is the longest piece that stays for the next collective, and piecesKept how many of the large
	// ones do.
	scratchKept = 8 << 20
	piecesKept  = 8

	// heldMost is how many bytes of the arena what was given up may use, before large pieces are ordinary memory.
	heldMost = 64 << 20
)

// scratchPool is large scratch memory of a seat. It lies in the arena of package mx: what a rank has combined there, the
// others of the host copy without a system call.
type scratchPool struct {
	mu   sync.Mutex // a collective that ends in a handler takes it: no call that makes progress is made under it
	free [][]byte
	held []held
}

// held are pieces that requests use which nobody waits for.
type held struct {
	pieces [][]byte
	reqs   []mx.Request
}

// take returns a piece of at least size bytes: the shortest that there is.
func (p *scratchPool) take(ep *mx.Endpoint, size int) []byte {
	full := p.collect(ep)
	if b := p.reuse(size); b != nil {
		return b
	}
	if !full {
		if b, err := mx.Alloc(size); err == nil {
			return b
		}
	}
	return aligned(size) // there is no room in the arena
}

// hold keeps pieces until requests are over.
func (p *scratchPool) hold(pieces [][]byte, reqs []mx.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = append(p.held, held{slices.Clone(pieces), reqs})
}

// collect takes back what no request uses any more. full: what is held yet is as much as may be.
func (p *scratchPool) collect(ep *mx.Endpoint) (full bool) {
	p.mu.Lock()
	var over [][]byte
	bytes := 0
	p.held = slices.DeleteFunc(p.held, func(h held) bool {
		for len(h.reqs) > 0 {
			if _, done, err := ep.Look(h.reqs[0]); !done && err == nil {
				break
			}
			h.reqs = h.reqs[1:]
		}
		if len(h.reqs) == 0 {
			over = append(over, h.pieces...)
			return true
		}
		for _, b := range h.pieces {
			bytes += len(b)
		}
		return false
	})
	p.mu.Unlock()
	for _, b := range over {
		p.give(b)
	}
	return bytes >= heldMost
}

func (p *scratchPool) reuse(size int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := -1
	for i, b := range p.free {
		if len(b) >= size && (best < 0 || len(b) < len(p.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b, last := p.free[best], len(p.free)-1
	p.free[best] = p.free[last]
	p.free = p.free[:last]
	return b
}

// give takes back a piece that no request uses.
func (p *scratchPool) give(b []byte) {
	if len(b) <= scratchKept && p.keep(b) {
		return
	}
	_ = mx.Free(b) // an error says that it is ordinary memory
}

func (p *scratchPool) keep(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == piecesKept {
		return false
	}
	p.free = append(p.free, b)
	return true
}

// close gives all to the arena but what is held, which others may read yet. No collective is under way.
func (p *scratchPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.free {
		_ = mx.Free(b)
	}
	p.free = nil
}
