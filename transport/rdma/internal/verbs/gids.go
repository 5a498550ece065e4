//go:build linux && cgo

package verbs

// #include "library.h"
import "C"

import (
	"syscall"
	"unsafe"
)

// GID is an entry of a device's tables of GIDs.
type GID struct {
	GID       [16]byte
	Index     uint32 // in the table of its port
	Port      uint32
	Type      GIDType
	Interface uint32 // index of the network interface; 0 if there is none
}

// GIDType says how packets with a GID look on the wire.
type GIDType uint32

// The types.
const (
	GIDInfiniBand GIDType = C.VB_GID_IB
	GIDRoCEv1     GIDType = C.VB_GID_ROCE_V1
	GIDRoCEv2     GIDType = C.VB_GID_ROCE_V2
)

// A GID is what C has for one.
var (
	_ [unsafe.Sizeof(GID{}) - C.sizeof_struct_vb_gid_entry]struct{}
	_ [C.sizeof_struct_vb_gid_entry - unsafe.Sizeof(GID{})]struct{}
)

// GIDs returns the GIDs in use of all ports, in one call, where sysfs takes some for
// each place of a table. A library that is too old returns syscall.ENOSYS.
func (d *Device) GIDs() ([]GID, error) {
	places := 0
	for port := 1; port <= d.limits.Ports; port++ {
		s, err := d.Port(port)
		if err != nil {
			return nil, err
		}
		places += s.GIDs
	}
	list := make([]GID, places)
	n := C.vb_query_gids(d.context, (*C.struct_vb_gid_entry)(unsafe.Pointer(unsafe.SliceData(list))), C.int(places))
	if n < 0 {
		return nil, failed("ibv_query_gid_table", syscall.Errno(-n))
	}
	return list[:n], nil
}
