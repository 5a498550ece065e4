//go:build linux && cgo

package slots

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"gomx/transport/rdma/internal/verbs"
)

// Pool is registered memory in slots. It is used by one goroutine at a time.
type Pool struct {
	region *verbs.Region
	memory []byte
	size   int
	free   []uint32 // with room for all
}

// New makes a Pool of count slots of size bytes. Where the system does not let so
// much memory be locked, it makes do with fewer, but with no fewer than least. If
// that is too much as well, the error is a *verbs.MemoryLimitError, which says what
// the slots that were asked for take.
func New(d *verbs.Domain, access verbs.Access, count, size, least int) (*Pool, error) {
	p, asked := newPool(d, access, count, size)
	if asked == nil {
		return p, nil
	}
	var limit *verbs.MemoryLimitError
	for err := asked; errors.As(err, &limit) && count > least; {
		count = max(count/2, least)
		if p, err = newPool(d, access, count, size); err == nil {
			return p, nil
		}
	}
	return nil, asked
}

func newPool(d *verbs.Domain, access verbs.Access, count, size int) (*Pool, error) {
	memory, err := unix.Mmap(-1, 0, count*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("mapping %d slots of %d bytes: %w", count, size, err)
	}
	region, err := d.Register(memory, access)
	if err != nil {
		_ = unix.Munmap(memory)
		return nil, fmt.Errorf("%d slots of %d bytes: %w", count, size, err)
	}
	p := &Pool{region: region, memory: memory, size: size, free: make([]uint32, count)}
	for i := range p.free {
		p.free[i] = uint32(count - 1 - i)
	}
	return p, nil
}

// Close gives the memory back. Nothing may be under way in any slot.
func (p *Pool) Close() error {
	if err := p.region.Close(); err != nil {
		return err // the device still has it
	}
	memory := p.memory
	*p = Pool{}
	return unix.Munmap(memory)
}

// Size returns the bytes of a slot.
func (p *Pool) Size() int { return p.size }

// Count returns how many slots there are, taken or not.
func (p *Pool) Count() int { return cap(p.free) }

// Free returns how many slots are not taken.
func (p *Pool) Free() int { return len(p.free) }

// Take returns a slot, if one is free. It takes the slot that was given back last, whose
// bytes are most likely still in the cache.
func (p *Pool) Take() (slot uint32, ok bool) {
	n := len(p.free)
	if n == 0 {
		return 0, false
	}
	slot = p.free[n-1]
	p.free = p.free[:n-1]
	return slot, true
}

// Give gives back a slot that was taken.
func (p *Pool) Give(slot uint32) {
	if len(p.free) == cap(p.free) || int(slot) >= cap(p.free) {
		panic(fmt.Sprintf("slots: slot %d of %d given back, %d are free", slot, cap(p.free), len(p.free)))
	}
	p.free = append(p.free, slot)
}

// Bytes returns the memory of a slot.
func (p *Pool) Bytes(slot uint32) []byte {
	at := int(slot) * p.size
	return p.memory[at : at+p.size : at+p.size]
}

// Piece returns the first n bytes of a slot, for a request.
func (p *Pool) Piece(slot uint32, n int) verbs.Piece {
	if n > p.size {
		panic(fmt.Sprintf("slots: %d bytes of a slot of %d", n, p.size))
	}
	return p.region.Piece(int(slot)*p.size, n)
}

// RemoteAddr returns where peers find a slot, if the pool's access lets them.
func (p *Pool) RemoteAddr(slot uint32) (addr uint64, key uint32) {
	return p.region.Addr() + uint64(int(slot)*p.size), p.region.RemoteKey()
}
