//go:build linux && cgo

package rdma

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"gomx/transport"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/wire"
)

// memory knows which memory of the program the device may use. Some is registered
// for long: what Register was given, and blocks of the arena, on first use. All
// other memory is registered for one message only. The Go run time gives pages of
// its heap back to the system and gets others in their place, and a registration that
// outlived the object would go on with the former.
type memory struct {
	domain *verbs.Domain
	arena  Arena // nil: none
	forget func()

	mu      sync.Mutex
	regions []*verbs.Region // registered for long, by address
	refused error           // why memory could not be registered, last
	refusal int

	spare []*verbs.Region // closed ones; under the endpoint's lock
}

const (
	longAccess = verbs.LocalWrite | verbs.RemoteRead
	mostSpare  = 16 // Region objects that are kept for the next messages
)

func (m *memory) open(p *port) closer {
	m.domain, m.arena = p.domain, p.opt.Arena
	if m.arena != nil {
		m.forget = m.arena.WhenFreed(m.freed)
	}
	return m.close
}

func (m *memory) close() error {
	if m.forget != nil {
		m.forget()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	m.regions, err = closeEach(m.regions)
	return err
}

// closeEach closes all, and returns those that could not be closed, with why.
func closeEach[C io.Closer](all []C) (left []C, err error) {
	for _, c := range all {
		if e := c.Close(); e != nil {
			left, err = append(left, c), errors.Join(err, e)
		}
	}
	return left, err
}

// long returns the region registered for long that b lies in, and where there.
func (m *memory) long(b []byte) (r *verbs.Region, off int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, off = m.find(b); r != nil || m.arena == nil {
		return r, off
	}
	block, ok := m.arena.Block(b)
	if !ok {
		return nil, 0
	}
	r, err := m.domain.Register(block, longAccess)
	if err != nil {
		m.refused, m.refusal = err, m.refusal+1
		return nil, 0
	}
	m.insert(r)
	off, _ = r.Find(b)
	return r, off
}

func (m *memory) find(b []byte) (r *verbs.Region, off int) {
	i, exact := slices.BinarySearchFunc(m.regions, verbs.Addr(b), byAddress)
	if !exact {
		i--
	}
	if i < 0 {
		return nil, 0
	}
	if off, ok := m.regions[i].Find(b); ok {
		return m.regions[i], off
	}
	return nil, 0
}

func byAddress(r *verbs.Region, addr uint64) int {
	switch at := r.Addr(); {
	case at < addr:
		return -1
	case at > addr:
		return 1
	}
	return 0
}

func (m *memory) insert(r *verbs.Region) {
	i, _ := slices.BinarySearchFunc(m.regions, r.Addr(), byAddress)
	m.regions = slices.Insert(m.regions, i, r)
}

// freed is called when a block of the arena is given back.
func (m *memory) freed(block []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, exact := slices.BinarySearchFunc(m.regions, verbs.Addr(block), byAddress)
	if exact {
		_ = m.regions[i].Close()
		m.regions = slices.Delete(m.regions, i, i+1)
	}
}

// Register implements transport.Registrar.
func (p *port) Register(mem []byte) (release func() error, err error) {
	m := &p.memory
	if p.closed.Load() {
		return nil, fmt.Errorf("rdma: register %d bytes: %w", len(mem), transport.ErrClosed)
	}
	r, err := m.domain.Register(mem, longAccess)
	if err != nil {
		return nil, fmt.Errorf("rdma: register %d bytes: %w", len(mem), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.insert(r)
	return func() error { return m.release(r) }, nil
}

// release ends a registration. After Close there is none.
func (m *memory) release(r *verbs.Region) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.regions, r)
	if i < 0 {
		return nil
	}
	m.regions = slices.Delete(m.regions, i, i+1)
	return r.Close()
}

// spot is a part of a region.
type spot struct {
	region *verbs.Region
	off, n int
}

// spots appends to dst where the first n bytes of v lie. What is not registered for
// long is registered now, which own is to be told of, to be given back by end.
func (m *memory) spots(dst []spot, own *[]*verbs.Region, v *wire.Vec, n int, access verbs.Access) ([]spot, error) {
	for i := 0; i < v.Segments() && n > 0; i++ {
		seg := v.Segment(i)
		seg = seg[:min(len(seg), n)]
		if len(seg) == 0 {
			continue
		}
		n -= len(seg)
		r, off := m.long(seg)
		if r == nil {
			var err error
			if r, err = m.short(seg, access); err != nil {
				m.refuse(err)
				return dst, err
			}
			*own = append(*own, r)
		}
		dst = append(dst, spot{r, off, len(seg)})
	}
	return dst, nil
}

// allLong reports whether the first n bytes of v are registered for long.
func (m *memory) allLong(v *wire.Vec, n int) bool {
	for i := 0; i < v.Segments() && n > 0; i++ {
		seg := v.Segment(i)
		seg = seg[:min(len(seg), n)]
		n -= len(seg)
		if len(seg) > 0 {
			if r, _ := m.long(seg); r == nil {
				return false
			}
		}
	}
	return true
}

func (m *memory) short(mem []byte, access verbs.Access) (*verbs.Region, error) {
	var r *verbs.Region
	if n := len(m.spare); n > 0 {
		r, m.spare = m.spare[n-1], m.spare[:n-1]
	} else {
		r = new(verbs.Region)
	}
	err := r.Open(m.domain, mem, access)
	if err != nil {
		m.spare = append(m.spare, r)
		return nil, err
	}
	return r, nil
}

// end gives back what was registered for one message.
func (m *memory) end(own []*verbs.Region) {
	for i, r := range own {
		if err := r.Close(); err != nil {
			m.refuse(err)
		} else if len(m.spare) < mostSpare {
			m.spare = append(m.spare, r)
		}
		own[i] = nil
	}
}

// refuse notes why something could not be registered, or given back.
func (m *memory) refuse(why error) {
	m.mu.Lock()
	m.refused, m.refusal = why, m.refusal+1
	m.mu.Unlock()
}

func (m *memory) diagnostics() []transport.Diagnostic {
	m.mu.Lock()
	defer m.mu.Unlock()
	bytes := 0
	for _, r := range m.regions {
		bytes += len(r.Bytes())
	}
	diagnostics := []transport.Diagnostic{{Name: "registered for long", Value: fmt.Sprintf("%d regions, %d bytes", len(m.regions), bytes)}}
	if m.refusal > 0 {
		diagnostics = append(diagnostics,
			transport.Diagnostic{Name: "registrations refused", Value: strconv.Itoa(m.refusal)},
			transport.Diagnostic{Name: "last refused", Value: m.refused.Error()})
	}
	return diagnostics
}
