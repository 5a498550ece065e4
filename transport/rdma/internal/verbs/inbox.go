//go:build linux && cgo

package verbs

// #include "library.h"
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Inbox is a shared receive queue: messages of all its QPs take their memory from it.
type Inbox struct{ srq *C.struct_vb_srq }

// NewInbox makes an Inbox for that many receives.
func (d *Domain) NewInbox(receives int) (*Inbox, error) {
	attr := C.struct_vb_srq_init_attr{max_wr: C.uint32_t(receives), max_sge: 1}
	srq, errno := C.vb_create_srq(d.pd, &attr)
	if srq == nil {
		return nil, fmt.Errorf("%s: shared receive queue of %d: %w", d.device.name, receives, failed("ibv_create_srq", errno))
	}
	return &Inbox{srq}, nil
}

// Close gives the Inbox back. Its QPs must be closed before.
func (i *Inbox) Close() error {
	if r := C.vb_destroy_srq(i.srq); r != 0 {
		return failed("ibv_destroy_srq", syscall.Errno(r))
	}
	return nil
}

// Post hands all that is collected to the Inbox, and returns how many requests it
// took: all, unless there is an error. The collection is empty afterwards.
func (i *Inbox) Post(r *Receives) (posted int, err error) {
	if r.n == 0 {
		return 0, nil
	}
	var n C.int
	e := C.vb_post_receives(address(i.srq), address(unsafe.SliceData(r.requests)), C.int(r.n), &n)
	r.n = 0
	if e != 0 {
		return int(n), failed("posting receives", syscall.Errno(e))
	}
	return int(n), nil
}
