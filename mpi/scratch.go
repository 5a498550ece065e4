package mpi

import (
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
)

// scratchPool is large scratch memory of a seat. It lies in the arena of package mx: what a rank has combined there, the
// others of the host copy without a system call.
type scratchPool struct {
	mu   sync.Mutex
	free [][]byte
}

// take returns a piece of at least size bytes: the shortest that there is.
func (p *scratchPool) take(size int) []byte {
	if b := p.reuse(size); b != nil {
		return b
	}
	if b, err := mx.Alloc(size); err == nil {
		return b
	}
	return aligned(size) // there is no room in the arena
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

// close gives all to the arena. No collective is under way.
func (p *scratchPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.free {
		_ = mx.Free(b)
	}
	p.free = nil
}
