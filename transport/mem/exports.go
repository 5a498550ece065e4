package mem

import (
	"encoding/binary"
	"sync"

	"gomx/transport/wire"
)

// exports is the table of what one end of a link lets the other pull. A token
// is the slot's number and, in its upper half, the slot's generation, so that an
// old token finds nothing. Methods may be called concurrently.
type exports struct {
	mu    sync.Mutex
	slots []export
	free  []uint32
}

type export struct {
	list       wire.Vec
	generation uint32 // odd while in use
}

// diagnostics adds v and appends its memory descriptor: the number of the end of a link that
// the table belongs to, and the token.
func (e *exports) appendDescriptor(dst []byte, number uint64, v *wire.Vec) ([]byte, uint64) {
	token := e.add(v)
	dst = binary.LittleEndian.AppendUint64(dst, number)
	return binary.LittleEndian.AppendUint64(dst, token), token
}

func (e *exports) add(v *wire.Vec) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.free) == 0 {
		e.free = append(e.free, uint32(len(e.slots)))
		e.slots = append(e.slots, export{})
	}
	i := e.free[len(e.free)-1]
	e.free = e.free[:len(e.free)-1]
	s := &e.slots[i]
	s.list = *v
	s.generation++
	return uint64(s.generation)<<32 | uint64(i)
}

func (e *exports) remove(token uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.find(token); s != nil {
		s.list = wire.Vec{}
		s.generation++
		e.free = append(e.free, uint32(token))
	}
}

func (e *exports) find(token uint64) *export {
	i, generation := uint32(token), uint32(token>>32)
	if uint64(i) >= uint64(len(e.slots)) || generation&1 == 0 || e.slots[i].generation != generation {
		return nil
	}
	return &e.slots[i]
}

// copyTo copies n bytes of what token names to dst. The lock is held meanwhile,
// so that after remove nobody reads the owner's memory any more.
func (e *exports) copyTo(dst *wire.Vec, token uint64, n int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.find(token)
	return s != nil && wire.Copy(dst, &s.list, n) == n
}

// clear removes all that is left.
func (e *exports) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.slots {
		if s := &e.slots[i]; s.generation&1 != 0 {
			s.list = wire.Vec{}
			s.generation++
			e.free = append(e.free, uint32(i))
		}
	}
}

// count returns how much is exported.
func (e *exports) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.slots) - len(e.free)
}
