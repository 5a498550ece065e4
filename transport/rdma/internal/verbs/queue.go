//go:build linux && cgo

package verbs

/*
#cgo noescape vb_poll
#cgo nocallback vb_poll
#cgo noescape vb_arm
#cgo nocallback vb_arm
#cgo noescape vb_drain
#cgo nocallback vb_drain
#include "library.h"
*/
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Queue collects the completions of QPs, and wakes who sleeps for them.
type Queue struct {
	device  *Device
	cq      *C.struct_vb_cq
	channel *C.struct_vb_channel
	done    []Completion
}

// Completion says that a request is finished. The memory it named is free again.
type Completion struct {
	ID     uint64 // of the request
	Status Status
	Kind   Kind // if Status is Success
	_      uint32
	Bytes  uint32 // received, or read
	_      uint32
	QP     uint32 // number of the QP
	_      [4]uint32
}

// Kind says what was completed.
type Kind uint32

// The kinds of requests.
const (
	Sent     Kind = C.VB_WC_SEND
	Wrote    Kind = C.VB_WC_WRITE
	Read     Kind = C.VB_WC_READ
	Received Kind = C.VB_WC_RECV
)

// A Completion is what C has for one.
var (
	_ [unsafe.Sizeof(Completion{}) - C.sizeof_struct_vb_wc]struct{}
	_ [C.sizeof_struct_vb_wc - unsafe.Sizeof(Completion{})]struct{}
)

// NewQueue makes a Queue for that many completions. Poll returns up to batch at
// once.
func (d *Device) NewQueue(entries, batch int) (*Queue, error) {
	channel, errno := C.vb_create_channel(d.context)
	if channel == nil {
		return nil, fmt.Errorf("%s: %w", d.name, failed("ibv_create_comp_channel", errno))
	}
	if err := unix.SetNonblock(int(channel.fd), true); err != nil {
		C.vb_destroy_channel(channel)
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	cq, errno := C.vb_create_cq(d.context, C.int(entries), channel)
	if cq == nil {
		C.vb_destroy_channel(channel)
		return nil, fmt.Errorf("%s: completion queue of %d: %w", d.name, entries, failed("ibv_create_cq", errno))
	}
	return &Queue{device: d, cq: cq, channel: channel, done: newArray[Completion](batch)}, nil
}

// Close gives the Queue back. Its QPs must be closed before.
func (q *Queue) Close() error {
	if r := C.vb_destroy_cq(q.cq); r != 0 {
		return failed("ibv_destroy_cq", syscall.Errno(r))
	}
	freeArray(q.done)
	q.cq, q.done = nil, nil
	if r := C.vb_destroy_channel(q.channel); r != 0 {
		return failed("ibv_destroy_comp_channel", syscall.Errno(r))
	}
	return nil
}

// Poll takes completions. They are valid until the next call. It looks once.
func (q *Queue) Poll() ([]Completion, error) { return q.Look(1) }

// Look is Poll, but looks so many times before it returns none. To look again costs much less
// than to cross into C again.
func (q *Queue) Look(tries int) ([]Completion, error) {
	n := C.vb_poll(address(q.cq), C.int(tries), C.int(len(q.done)), address(unsafe.SliceData(q.done)))
	if n < 0 {
		return nil, failed("ibv_poll_cq", nil)
	}
	return q.done[:n], nil
}

// FD returns a descriptor that becomes readable when a completion comes into a
// Queue that is armed. Drain makes it unreadable.
func (q *Queue) FD() int { return int(q.channel.fd) }

// Arm has the next completion make FD readable. Those that are there already
// don't, so Poll once more before sleeping.
func (q *Queue) Arm() error {
	if r := C.vb_arm(q.cq); r != 0 {
		return failed("ibv_req_notify_cq", syscall.Errno(r))
	}
	return nil
}

// Drain makes FD unreadable, and reports whether it was readable. The Queue must be
// armed anew after it.
func (q *Queue) Drain() bool { return C.vb_drain(q.channel, q.cq) > 0 }
