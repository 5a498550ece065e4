//go:build linux && cgo

package verbs

// #include "library.h"
import "C"

import (
	"fmt"
	"syscall"
)

// QP is one end of a reliable connection: what is sent arrives once, in order, or
// the QP fails.
type QP struct {
	device    *Device
	qp        *C.struct_vb_qp
	maxInline int
}

// QPOptions say what a QP is made of.
type QPOptions struct {
	Queue  *Queue // of its completions
	Inbox  *Inbox // where its messages find memory
	Sends  int    // requests that can be under way
	Pieces int    // in a request
	Inline int    // bytes that should go inline
}

// NewQP makes a QP. It can't do anything before it is connected.
func (d *Domain) NewQP(o QPOptions) (*QP, error) {
	attr := C.struct_vb_qp_init_attr{
		send_cq: o.Queue.cq, recv_cq: o.Queue.cq, srq: o.Inbox.srq, _type: C.VB_QPT_RC,
		cap: C.struct_vb_qp_cap{
			max_send_wr: C.uint32_t(o.Sends), max_send_sge: C.uint32_t(o.Pieces), max_inline: C.uint32_t(o.Inline),
		},
	}
	qp, errno := C.vb_create_qp(d.pd, &attr)
	if qp == nil {
		return nil, fmt.Errorf("%s: queue pair of %d requests, %d bytes inline: %w",
			d.device.name, o.Sends, o.Inline, failed("ibv_create_qp", errno))
	}
	return &QP{d.device, qp, int(attr.cap.max_inline)}, nil
}

// Close ends the connection and gives the QP back. None of its requests is carried
// out any more, and no more of its completions come, but those that are in
// the Queue already may or may not stay there.
func (q *QP) Close() error {
	if r := C.vb_destroy_qp(q.qp); r != 0 {
		return failed("ibv_destroy_qp", syscall.Errno(r))
	}
	q.qp = nil
	return nil
}

// Number returns what Completions call the QP, and peers when they connect.
func (q *QP) Number() uint32 { return uint32(q.qp.number) }

// MaxInline returns how many bytes can go inline.
func (q *QP) MaxInline() int { return q.maxInline }

// End is what a QP must know of the other one.
type End struct {
	QP     uint32
	Packet uint32 // number of the first packet it sends, 24 bits
	LID    uint16
	GID    [16]byte // if the path is global
}

// Path says how packets get to the other end. Both sides must agree on the MTU.
type Path struct {
	Port     int
	GIDIndex int  // of our GID
	Global   bool // by GID; always so over Ethernet
	HopLimit int
	Class    int // traffic class
	Level    int // service level
	MTU      MTU

	// Timeout is when a packet is retransmitted, as 4.096 us times 2 to this power; 0
	// is never. Retries is how often, at most 7; Soft-RoCE takes 7 for "for ever".
	Timeout, Retries int
	// ReadsOut is how many reads may be under way, ReadsIn how many are answered at
	// once. ReadsOut of one side must not exceed ReadsIn of the other.
	ReadsOut, ReadsIn int
}

const (
	patientRNR = 7  // have a peer without a receive asked again for ever
	rnrTimer   = 12 // and wait 0.64 ms in between
)

// Connect makes the QP ready to send to the far end and to receive from it. First is the
// number of the first packet it sends, which the far end must be told, 24 bits.
func (q *QP) Connect(first uint32, far End, p Path, access Access) error {
	steps := []struct {
		name string
		attr C.struct_vb_qp_attr
		mask C.int
	}{
		{"init", C.struct_vb_qp_attr{
			state: C.VB_INIT, port: C.uint8_t(p.Port), access: C.uint32_t(access),
		}, C.VB_SET_STATE | C.VB_SET_PKEY_INDEX | C.VB_SET_PORT | C.VB_SET_ACCESS},
		{"ready to receive", C.struct_vb_qp_attr{
			state: C.VB_RTR, path: p.to(far), mtu: C.uint32_t(p.MTU), dest_qpn: C.uint32_t(far.QP),
			rq_psn: C.uint32_t(far.Packet), reads_in: C.uint8_t(p.ReadsIn), rnr_timer: rnrTimer,
		}, C.VB_SET_STATE | C.VB_SET_PATH | C.VB_SET_MTU | C.VB_SET_DEST_QPN | C.VB_SET_RQ_PSN |
			C.VB_SET_READS_IN | C.VB_SET_RNR_TIMER},
		{"ready to send", C.struct_vb_qp_attr{
			state: C.VB_RTS, sq_psn: C.uint32_t(first), reads_out: C.uint8_t(p.ReadsOut),
			timeout: C.uint8_t(p.Timeout), retries: C.uint8_t(p.Retries), rnr_retries: patientRNR,
		}, C.VB_SET_STATE | C.VB_SET_SQ_PSN | C.VB_SET_READS_OUT | C.VB_SET_TIMEOUT |
			C.VB_SET_RETRIES | C.VB_SET_RNR_RETRIES},
	}
	for _, s := range steps {
		if r := C.vb_modify_qp(q.qp, &s.attr, s.mask); r != 0 {
			return fmt.Errorf("%s: queue pair %d, %s: %w", q.device.name, q.Number(), s.name,
				failed("ibv_modify_qp", syscall.Errno(r)))
		}
	}
	return nil
}

func (p *Path) to(far End) C.struct_vb_path {
	path := C.struct_vb_path{
		lid: C.uint16_t(far.LID), service_level: C.uint8_t(p.Level), port: C.uint8_t(p.Port),
	}
	if !p.Global {
		return path
	}
	path.global = 1
	path.route.gid_index, path.route.hop_limit = C.uint8_t(p.GIDIndex), C.uint8_t(p.HopLimit)
	path.route.traffic_class = C.uint8_t(p.Class)
	for i, b := range far.GID {
		path.route.gid[i] = C.uint8_t(b)
	}
	return path
}

// Fail puts the QP into the state of error: its requests complete as Flushed,
// and the peer's fail.
func (q *QP) Fail() error {
	attr := C.struct_vb_qp_attr{state: C.VB_ERR}
	if r := C.vb_modify_qp(q.qp, &attr, C.VB_SET_STATE); r != 0 {
		return fmt.Errorf("%s: queue pair %d: %w", q.device.name, q.Number(), failed("ibv_modify_qp", syscall.Errno(r)))
	}
	return nil
}

// State is what a QP can do at present.
type State uint32

// The states. Those between are passed in Connect.
const (
	Unconnected State = C.VB_RESET
	Ready       State = C.VB_RTS
	Failed      State = C.VB_ERR
)

// State asks the device what state the QP is in.
func (q *QP) State() (State, error) {
	var attr C.struct_vb_qp_attr
	var init C.struct_vb_qp_init_attr
	if r := C.vb_query_qp(q.qp, &attr, C.VB_SET_STATE, &init); r != 0 {
		return 0, failed("ibv_query_qp", syscall.Errno(r))
	}
	return State(attr.state), nil
}
