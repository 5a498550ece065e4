//go:build linux && cgo

package verbs

// #include "library.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// Domain holds what may work together: a QP reaches only Regions of its own Domain.
// Its methods may be called concurrently.
type Domain struct {
	device *Device
	pd     *C.struct_vb_pd
}

// NewDomain makes a Domain of the device.
func (d *Device) NewDomain() (*Domain, error) {
	pd, errno := C.vb_alloc_pd(d.context)
	if pd == nil {
		return nil, fmt.Errorf("%s: %w", d.name, failed("ibv_alloc_pd", errno))
	}
	return &Domain{d, pd}, nil
}

// Close gives the Domain back.
func (d *Domain) Close() error {
	if r := C.vb_dealloc_pd(d.pd); r != 0 {
		return failed("ibv_dealloc_pd", syscall.Errno(r))
	}
	return nil
}

// Access says what a device may do with a Region besides reading it for requests
// of its own side.
type Access int

// The kinds of access. Peers that write need LocalWrite as well.
const (
	LocalWrite  Access = C.VB_LOCAL_WRITE // receives, and reads of the peer's memory, land there
	RemoteWrite Access = C.VB_REMOTE_WRITE
	RemoteRead  Access = C.VB_REMOTE_READ
)

// Region is memory that a device may use. Its pages stay where they are until it is
// closed. Memory of Go stays the same object all that time, but nothing else must
// be done to its pages: of a heap that gives pages back to the system and gets others
// for them, a device would go on using the former.
type Region struct {
	mr  *C.struct_vb_mr
	mem []byte
	pin runtime.Pinner
}

// errNoMemory is what a Region of nothing gets.
var errNoMemory = errors.New("no memory to register")

// Register makes a Region of mem. If the system does not allow so much memory to be
// locked, the error is a *MemoryLimitError.
func (d *Domain) Register(mem []byte, access Access) (*Region, error) {
	r := new(Region)
	return r, r.Open(d, mem, access)
}

// Open makes r, which is new or closed, a Region of mem, as Register does.
func (r *Region) Open(d *Domain, mem []byte, access Access) error {
	if len(mem) == 0 {
		return errNoMemory
	}
	start := unsafe.Pointer(unsafe.SliceData(mem))
	r.pin.Pin(start)
	mr, errno := C.vb_reg_mr(d.pd, C.uintptr_t(uintptr(start)), C.size_t(len(mem)), C.int(access))
	if mr == nil {
		r.pin.Unpin()
		if errors.Is(errno, syscall.ENOMEM) || errors.Is(errno, syscall.EPERM) { // the latter where the limit is 0
			errno = explainLimit(uintptr(start), len(mem), errno)
		}
		return fmt.Errorf("%s: %w", d.device.name, failed(fmt.Sprintf("registering %d bytes", len(mem)), errno))
	}
	r.mr, r.mem = mr, mem
	return nil
}

// Close takes the memory away from the device. Nothing may be under way in it.
func (r *Region) Close() error {
	if e := C.vb_dereg_mr(r.mr); e != 0 {
		return failed("ibv_dereg_mr", syscall.Errno(e))
	}
	r.mr, r.mem = nil, nil
	r.pin.Unpin()
	return nil
}

// Bytes returns the memory.
func (r *Region) Bytes() []byte { return r.mem }

// Addr returns the address by which devices know the first byte.
func (r *Region) Addr() uint64 { return uint64(uintptr(r.mr.addr)) }

// Find returns where b begins in the Region, if all of it lies there.
func (r *Region) Find(b []byte) (off int, ok bool) {
	start, first := Addr(b), Addr(r.mem)
	if start < first || start-first > uint64(len(r.mem)) || uint64(len(b)) > uint64(len(r.mem))-(start-first) {
		return 0, false
	}
	return int(start - first), true
}

// Addr returns the address of the first byte of b.
func Addr(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// RemoteKey returns what a peer must show to reach the Region.
func (r *Region) RemoteKey() uint32 { return uint32(r.mr.rkey) }

// Piece returns n bytes of the Region from off on, for a request.
func (r *Region) Piece(off, n int) Piece {
	_ = r.mem[off : off+n]
	return Piece{Addr: r.Addr() + uint64(off), Length: uint32(n), key: uint32(r.mr.lkey)}
}

// Piece is memory of a Region, as requests name it.
type Piece struct {
	Addr   uint64
	Length uint32
	key    uint32
}

// Part returns n bytes of the Piece from off on.
func (p Piece) Part(off, n uint32) Piece {
	if uint64(off)+uint64(n) > uint64(p.Length) {
		panic("verbs: part beyond the end of a piece")
	}
	return Piece{Addr: p.Addr + uint64(off), Length: n, key: p.key}
}
