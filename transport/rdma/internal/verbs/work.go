//go:build linux && cgo

package verbs

/*
#cgo noescape vb_post_sends
#cgo nocallback vb_post_sends
#cgo noescape vb_post_receives
#cgo nocallback vb_post_receives
#include "library.h"
*/
import "C"

import (
	"syscall"
	"unsafe"
)

// Flags say how a request is carried out.
type Flags uint32

// The flags.
const (
	Signaled Flags = C.VB_SIGNALED // makes a Completion; without, only if it fails
	Inline   Flags = C.VB_INLINE   // the bytes are copied when it is posted; at most QP.MaxInline
)

// A Piece is what C has for one.
var (
	_ [unsafe.Sizeof(Piece{}) - C.sizeof_struct_vb_sge]struct{}
	_ [C.sizeof_struct_vb_sge - unsafe.Sizeof(Piece{})]struct{}
)

// Sends collects requests of a QP: sends, reads and writes.
type Sends struct {
	requests []C.struct_vb_send_wr
	pieces   []Piece // as many for each request
	each     int
	n        int
}

// NewSends makes room for that many requests, each of up to that many pieces.
func NewSends(requests, pieces int) *Sends {
	return &Sends{
		requests: newArray[C.struct_vb_send_wr](requests),
		pieces:   newArray[Piece](requests * pieces), each: pieces,
	}
}

// Free gives the room back.
func (s *Sends) Free() {
	freeArray(s.requests)
	freeArray(s.pieces)
	*s = Sends{}
}

// Len returns how many requests are collected.
func (s *Sends) Len() int { return s.n }

// Full reports whether no more fit.
func (s *Sends) Full() bool { return s.n == len(s.requests) }

// Reset forgets what is collected.
func (s *Sends) Reset() { s.n = 0 }

// Send adds a message. It uses up one receive of the peer.
func (s *Sends) Send(id uint64, f Flags, pieces ...Piece) { s.add(C.VB_WR_SEND, id, f, pieces) }

// Read adds a read of the peer's memory at from, into the pieces.
func (s *Sends) Read(id uint64, f Flags, from uint64, remoteKey uint32, pieces ...Piece) {
	r := s.add(C.VB_WR_READ, id, f, pieces)
	r.remote_addr, r.rkey = C.uint64_t(from), C.uint32_t(remoteKey)
}

// Write adds a write of the pieces to the peer's memory at to.
func (s *Sends) Write(id uint64, f Flags, to uint64, remoteKey uint32, pieces ...Piece) {
	r := s.add(C.VB_WR_WRITE, id, f, pieces)
	r.remote_addr, r.rkey = C.uint64_t(to), C.uint32_t(remoteKey)
}

func (s *Sends) add(opcode C.uint32_t, id uint64, f Flags, pieces []Piece) *C.struct_vb_send_wr {
	at := s.n * s.each
	list := s.pieces[at : at+s.each]
	if copy(list, pieces) < len(pieces) {
		panic("verbs: a request of too many pieces")
	}
	r := &s.requests[s.n]
	r.id, r.opcode, r.flags, r.count = C.uint64_t(id), opcode, C.uint32_t(f), C.int(len(pieces))
	r.list = (*C.struct_vb_sge)(unsafe.Pointer(unsafe.SliceData(list)))
	s.n++
	return r
}

// Post hands all that is collected to the QP, in order, and returns how many
// requests it took: all, unless there is an error. A QP whose requests are all in
// use returns syscall.ENOMEM. The collection is empty afterwards.
func (q *QP) Post(s *Sends) (posted int, err error) {
	if s.n == 0 {
		return 0, nil
	}
	var n C.int
	e := C.vb_post_sends(address(q.qp), address(unsafe.SliceData(s.requests)), C.int(s.n), &n)
	s.n = 0
	if e != 0 {
		return int(n), failed("ibv_post_send", syscall.Errno(e))
	}
	return int(n), nil
}

// Receives collects requests of an Inbox.
type Receives struct {
	requests []C.struct_vb_recv_wr
	pieces   []Piece
	n        int
}

// NewReceives makes room for that many requests.
func NewReceives(requests int) *Receives {
	r := &Receives{requests: newArray[C.struct_vb_recv_wr](requests), pieces: newArray[Piece](requests)}
	for i := range r.requests {
		r.requests[i].list = (*C.struct_vb_sge)(unsafe.Pointer(&r.pieces[i]))
		r.requests[i].count = 1
	}
	return r
}

// Free gives the room back.
func (r *Receives) Free() {
	freeArray(r.requests)
	freeArray(r.pieces)
	*r = Receives{}
}

// Len returns how many requests are collected.
func (r *Receives) Len() int { return r.n }

// Full reports whether no more fit.
func (r *Receives) Full() bool { return r.n == len(r.requests) }

// Add adds memory for one message.
func (r *Receives) Add(id uint64, p Piece) {
	r.requests[r.n].id = C.uint64_t(id)
	r.pieces[r.n] = p
	r.n++
}
