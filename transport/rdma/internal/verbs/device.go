//go:build linux && cgo

package verbs

// #include "library.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Device is an RDMA device that is open. Its methods may be called concurrently.
type Device struct {
	name    string
	context *C.struct_vb_context
	limits  Limits
}

// Limits are what a device says it can do. Queue pairs may get less.
type Limits struct {
	Firmware       string
	Ports          int
	MaxQPs         int
	MaxCompletions int // entries of a Queue
	MaxRegions     int
	MaxRegion      uint64 // bytes
	MaxSends       int    // requests of a QP that are under way
	MaxPieces      int    // pieces of memory in a request
	MaxReadPieces  int    // and in a read; 0 if the device does not say
	MaxReceives    int    // requests in an Inbox; 0: it has none
	MaxReadsOut    int    // reads that a QP has under way
	MaxReadsIn     int    // reads that a QP answers at once
}

// ErrNoDevice is what Open returns for a device that the library does not list,
// because there is none of that name or no provider library for it.
var ErrNoDevice = errors.New("no such RDMA device")

// Names returns the names of the devices for which the library has a provider.
func Names() ([]string, error) {
	var names []string
	err := eachDevice(func(d *C.struct_vb_device) bool {
		names = append(names, C.GoString(&d.name[0]))
		return true
	})
	return names, err
}

// eachDevice calls f with the devices until it says no. They are gone when
// eachDevice returns, but for those that f has opened.
func eachDevice(f func(*C.struct_vb_device) bool) error {
	var n C.int
	list, errno := C.vb_get_device_list(&n)
	if list == nil {
		if errors.Is(errno, syscall.ENOSYS) {
			return nil // the kernel has no RDMA
		}
		return failed("ibv_get_device_list", errno)
	}
	defer C.vb_free_device_list(list)
	for _, d := range unsafe.Slice(list, int(n)) {
		if !f(d) {
			break
		}
	}
	return nil
}

// Open opens the device of that name. Without the permission to use it the error is
// syscall.EACCES or EPERM, and names the file.
func Open(name string) (*Device, error) {
	err := fmt.Errorf("%w: %s", ErrNoDevice, name)
	var dev *Device
	listErr := eachDevice(func(d *C.struct_vb_device) bool {
		if C.GoString(&d.name[0]) == name {
			dev, err = open(name, d)
			return false
		}
		return true
	})
	if listErr != nil {
		return nil, listErr
	}
	return dev, err
}

func open(name string, d *C.struct_vb_device) (*Device, error) {
	context, errno := C.vb_open_device(d)
	if context == nil {
		return nil, fmt.Errorf("%s: %w", name, notOpened("/dev/infiniband/"+C.GoString(&d.dev_name[0]), errno))
	}
	dev := &Device{name: name, context: context}
	err := dev.askLimits()
	if err == nil {
		// The events are looked for, not waited for.
		err = unix.SetNonblock(int(context.async_fd), true)
	}
	if err != nil {
		_ = dev.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return dev, nil
}

// notOpened says why a device can't be opened. The library looks for its file in
// several places, and reports what was wrong with the last.
func notOpened(file string, errno error) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_ = f.Close()
	return failed("ibv_open_device", errno)
}

func (d *Device) askLimits() error {
	var a C.struct_vb_device_attr
	if r := C.vb_query_device(d.context, &a); r != 0 {
		return failed("ibv_query_device", syscall.Errno(r))
	}
	d.limits = Limits{
		Firmware: C.GoString(&a.firmware[0]), Ports: int(a.ports),
		MaxQPs: int(a.max_qp), MaxCompletions: int(a.max_cqe),
		MaxRegions: int(a.max_mr), MaxRegion: uint64(a.max_mr_size),
		MaxSends: int(a.max_qp_wr), MaxPieces: int(a.max_sge), MaxReadPieces: int(a.max_sge_read),
		MaxReceives: int(a.max_srq_wr),
		MaxReadsOut: int(a.max_reads_out), MaxReadsIn: int(a.max_reads_in),
	}
	return nil
}

// Name returns what the device was opened as.
func (d *Device) Name() string { return d.name }

// Limits returns what the device can do.
func (d *Device) Limits() Limits { return d.limits }

// Close closes the device. All that was made of it must be closed before.
func (d *Device) Close() error {
	if r, errno := C.vb_close_device(d.context); r != 0 {
		return failed("ibv_close_device", errno)
	}
	d.context = nil
	return nil
}

// PortState is how a port is at the moment.
type PortState struct {
	Active     bool
	LID        uint16 // on InfiniBand
	MTU        MTU    // in use
	MaxMessage uint32 // bytes of one request
	GIDs       int    // places in its table
}

// Port asks how a port is. Ports count from 1.
func (d *Device) Port(port int) (PortState, error) {
	var a C.struct_vb_port_attr
	if r := C.vb_query_port(d.context, C.uint8_t(port), &a); r != 0 {
		return PortState{}, fmt.Errorf("%s port %d: %w", d.name, port, failed("ibv_query_port", syscall.Errno(r)))
	}
	return PortState{
		Active: a.state == C.VB_PORT_ACTIVE, LID: uint16(a.lid), MTU: MTU(a.active_mtu),
		MaxMessage: uint32(a.max_message), GIDs: int(a.gids),
	}, nil
}

// MTU is the size of packets as the verbs count it: 1 is 256 bytes, 5 is 4096.
type MTU uint32

// Bytes returns the size in bytes, or 0 if m is no such number.
func (m MTU) Bytes() int {
	if m < 1 || m > 5 {
		return 0
	}
	return 128 << m
}
