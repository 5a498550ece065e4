//go:build linux && cgo

package verbs

// #include "library.h"
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Event is something that happened to a device, besides completions.
type Event uint32

// The events that matter here. The numbers are those of the library.
const (
	QueueFailed   Event = 0 // of completions; it is of no use any more
	QPFailed      Event = 1
	QPBadRequest  Event = 2 // of the peer
	QPBadAccess   Event = 3 // by the peer
	QPEstablished Event = 4
	DeviceFailed  Event = 8
	PortActive    Event = 9
	PortDown      Event = 10
	LIDChanged    Event = 11
	InboxFailed   Event = 14
	QPDrained     Event = 16 // in error, and it takes nothing from the Inbox any more
	GIDsChanged   Event = 18
)

var eventNames = map[Event]string{
	QueueFailed: "completion queue failed", DeviceFailed: "device failed", PortActive: "port active",
	PortDown: "port down", LIDChanged: "LID changed", InboxFailed: "shared receive queue failed",
	QPDrained: "queue pair drained", GIDsChanged: "GIDs changed", QPFailed: "queue pair failed",
	QPBadRequest: "bad request of the peer", QPBadAccess: "forbidden access by the peer",
	QPEstablished: "queue pair established",
}

// String says what has happened.
func (e Event) String() string {
	if name, ok := eventNames[e]; ok {
		return name
	}
	return fmt.Sprintf("event %d", uint32(e))
}

// EventFD returns a descriptor that is readable while NextEvent has something.
func (d *Device) EventFD() int { return int(d.context.async_fd) }

// NextEvent takes the next event, if there is one. It does not block. Port says
// which port it is about, for those that are about one.
func (d *Device) NextEvent() (e Event, port int, ok bool, err error) {
	var event C.struct_vb_async_event
	r := C.vb_next_event(d.context, &event)
	if r < 0 {
		return 0, 0, false, fmt.Errorf("%s: %w", d.name, failed("ibv_get_async_event", syscall.Errno(-r)))
	}
	if r == 0 {
		return 0, 0, false, nil
	}
	e = Event(event._type)
	switch e {
	case PortActive, PortDown, LIDChanged, GIDsChanged:
		port = int(*(*C.int)(unsafe.Pointer(&event.element)))
	}
	return e, port, true, nil
}
