package mx

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"gomx/endpoint"
	"gomx/endpoint/driver"
)

// WindowPermission says what peers may do with a window.
type WindowPermission uint8

// The permissions.
const (
	WindowRead  WindowPermission = 1 // peers may get from it
	WindowWrite WindowPermission = 2 // peers may put into it
)

// WindowHandle names a window. The program tells it to those peers that are to use
// the window, by whatever means. Nobody can guess one, but who knows it may use the
// window as its owner has permitted, if it is connected with the owner's endpoint.
// Handles can be compared. The zero WindowHandle names no window.
type WindowHandle struct {
	ID     uint64
	Length uint32 // bytes of the window
}

// WindowHandleSize is how many bytes a WindowHandle takes in its binary form.
const WindowHandleSize = 12

// AppendBinary appends the binary form, which is the same on all machines, to b. The
// error is nil.
func (h WindowHandle) AppendBinary(b []byte) ([]byte, error) {
	b = binary.LittleEndian.AppendUint64(b, h.ID)
	return binary.LittleEndian.AppendUint32(b, h.Length), nil
}

// MarshalBinary returns the binary form. The error is nil.
func (h WindowHandle) MarshalBinary() ([]byte, error) {
	return h.AppendBinary(make([]byte, 0, WindowHandleSize))
}

// UnmarshalBinary sets h from its binary form. Another length than WindowHandleSize
// is ErrBadParamVal.
func (h *WindowHandle) UnmarshalBinary(b []byte) error {
	if len(b) != WindowHandleSize {
		return fail("unmarshal window handle", ErrBadParamVal, "", fmt.Errorf("it has %d bytes, not %d", WindowHandleSize, len(b)))
	}
	h.ID, h.Length = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])
	return nil
}

// Window is memory that peers may read or write with Iget and Iput, without the
// program's doing anything about it. Its methods may be called from any goroutine, unless the endpoint was
// opened with SingleThreaded; FetchAtomic also then.
type Window struct {
	ep    *Endpoint
	bytes []byte
	id    uint64
}

// OpenWindow lets peers access buf, as the permissions say, until Close. Windows may overlap, and the program may go on
// using the memory. It has to agree with its peers on who may access which bytes when, for example by messages. Bytes
// that one peer reads while another writes them, or that two write at the same time, have either value. Over RDMA,
// large puts and gets are faster if the memory is that of Alloc or registered.
//
// Errors: ErrBadParamVal for no permission or an unknown one, ErrBadSegMem for 4 GiB or more, ErrNoResources if 65536
// windows are open, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) OpenWindow(buf []byte, may WindowPermission) (*Window, error) {
	if may == 0 || may&^(WindowRead|WindowWrite) != 0 {
		return nil, ep.fail("open window", "", fmt.Errorf("%w: permissions %#x", ErrBadParamVal, uint8(may)))
	}
	id, err := ep.d.OpenWindow(buf, endpoint.Permission(may), newKey())
	if errors.Is(err, endpoint.ErrNoResources) {
		err = fmt.Errorf("%w: %d windows are open: close some of them", ErrNoResources, endpoint.MaxWindows)
	}
	if err != nil {
		return nil, ep.fail("open window", "", err)
	}
	return &Window{ep, buf, id}, nil
}

// newKey returns what makes a window's handle impossible to guess.
func newKey() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Handle returns the name by which peers use the window.
func (w *Window) Handle() WindowHandle { return WindowHandle{w.id, uint32(len(w.bytes))} }

// Bytes returns the memory. It stays the caller's after Close.
func (w *Window) Bytes() []byte { return w.bytes }

// DenyWindows refuses all further accesses of another endpoint to the windows of this one, also to windows that are opened
// later, between all contexts of both. Its puts, gets and atomic operations complete there with StatusRDMANotPermitted, also those that are in progress;
// of these some bytes may have been moved, and an RDMA device may still move a few more. Programs call it when they know that
// a peer has failed or stands still, before they give its share to others. It can't be undone. The endpoint itself is never
// refused.
// Errors: ErrBadEndpoint. Safe from any goroutine, also where SingleThreaded is set.
func (ep *Endpoint) DenyWindows(nicID uint64, endpointID uint32) error {
	var errs []error
	for i := range ep.Contexts() {
		errs = append(errs, ep.ownContext(i).d.DenyWindows(nicID, endpointID))
	}
	return ep.fail("deny windows", "", errors.Join(errs...))
}

// Poll makes progress once, and returns how many puts and gets were carried out on the window since it was opened. The data of
// the puts that are counted may be read. For a closed window it returns 0. Error: ErrBadEndpoint.
func (w *Window) Poll() (puts, gets uint64, err error) {
	puts, gets, err = w.ep.d.WindowUse(w.id)
	if err != nil {
		return 0, 0, w.ep.fail("poll window", "", err)
	}
	return puts, gets, nil
}

// Close ends the window: when it has returned, no peer reads or writes the memory. Accesses of peers that are in progress end,
// and complete there with StatusBadRDMAWindow; of a put some bytes may have been written. Close waits while an RDMA device
// still accesses the memory, and progression must not be disabled meanwhile.
//
// Errors: ErrBadSegMem if it is closed already. ErrBadEndpoint if the endpoint is
// closed, which closes its windows; if that is under way, the memory is free when
// Endpoint.Close has returned. ErrCloseInHandler inside a handler
// of the endpoint, of unexpected messages or of a Queue.
func (w *Window) Close() error {
	err := w.ep.d.CloseWindow(w.id)
	if errors.Is(err, driver.ErrNoWindow) {
		err = fmt.Errorf("%w: %w", ErrBadSegMem, err)
	}
	return w.ep.fail("close window", "", err)
}
