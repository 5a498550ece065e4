package exs

import (
	"sync/atomic"

	"gomx/exs/internal/span"
	"gomx/mx"
)

// Unregistered stands for memory that was not registered (8.2). The library then registers it for each transfer, if that is needed.
var Unregistered *Memory

// Memory is registered memory (8.1). Of a nil one, which is Unregistered, and a zero one, nothing can be changed: EINVAL.
type Memory struct {
	l     *Library
	bytes []byte
	held  *mx.Memory

	flags atomic.Uint32 // Flags
	uses  atomic.Int64  // operations outstanding; far below 0 when it was deregistered
}

// Register registers memory with the default library (8.1). With RecvDisable it
// can be sent from only. Errors: EINVAL for no bytes or other flags, ENOBUFS with
// the reason, ENETDOWN.
func Register(b []byte, flags Flags) (*Memory, error) {
	l, err := defaultLibrary("register")
	if err != nil {
		return nil, err
	}
	return l.Register(b, flags)
}

// Register is the function Register in this library.
func (l *Library) Register(b []byte, flags Flags) (*Memory, error) {
	if l.none() {
		return nil, absent("register", EINVAL, noLibrary)
	}
	if flags&^RecvDisable != 0 || len(b) == 0 {
		return nil, wrong("register", "there are %d bytes, and flags %#x: it needs one at least, and the only flag is RecvDisable", len(b), uint32(flags))
	}
	ep, err := l.Endpoint()
	if err != nil {
		return nil, err
	}
	held, err := ep.Register(b)
	if err != nil {
		return nil, l.failed("register", err, ENOBUFS)
	}
	m := &Memory{l: l, bytes: b, held: held}
	m.flags.Store(uint32(flags))
	return m, nil
}

// Bytes returns the memory.
func (m *Memory) Bytes() []byte {
	if m.none() {
		return nil
	}
	return m.bytes
}

// Deregister ends a registration (8.1). Errors: EBUSY while operations use it,
// EINVAL for flags, or if it has ended, ENETDOWN if the library was closed, which has ended it.
func (m *Memory) Deregister(flags Flags) error {
	if m.none() {
		return absent("deregister", EINVAL, noMemory)
	}
	if flags != 0 {
		return wrong("deregister", "there are no flags")
	}
	if !m.uses.CompareAndSwap(0, deleted) {
		if m.gone() {
			return wrong("deregister", memoryGone)
		}
		return because("deregister", EBUSY, memoryInUse)
	}
	return m.l.failed("deregister", m.held.Deregister(), EINVAL)
}

// failed is the error of a call on the endpoint, which also the library's Close makes fail.
func (l *Library) failed(op string, err error, otherwise Errno) error {
	if err != nil && l.isClosed() {
		return &Error{Op: op, Errno: ENETDOWN, Cause: errLibraryClosed}
	}
	return failed(op, err, otherwise)
}

// Modify changes what the memory is registered for (exs_mmodify): RecvDisable, or
// 0 for both directions. Operations that have started are not affected. Errors:
// EINVAL for other flags, or after Deregister.
func (m *Memory) Modify(flags Flags) error {
	if m.none() {
		return absent("modify memory", EINVAL, noMemory)
	}
	if flags&^RecvDisable != 0 {
		return wrong("modify memory", "the only flag is RecvDisable")
	}
	if m.gone() {
		return wrong("modify memory", memoryGone)
	}
	m.flags.Store(uint32(flags))
	return nil
}

func (m *Memory) gone() bool { return m.uses.Load() < 0 }

// use counts an operation on a buffer, or returns why the operation is refused.
func (m *Memory) use(o *op) Errno {
	if m == nil {
		return 0
	}
	n := m.allows(o.s.l, o.receives(), o.buf, o.iov...)
	if n == 0 && m.uses.Add(1) <= 0 {
		n = EINVAL
		m.uses.Add(-1)
	}
	return n
}

// allows returns what is wrong with an operation on buffers, or 0.
func (m *Memory) allows(l *Library, receives bool, buf []byte, more ...[]byte) Errno {
	switch {
	case m.gone(), m.l != l:
		return EINVAL
	case m.flags.Load()&uint32(RecvDisable) != 0 && receives:
		return EACCES
	case !span.Within(m.bytes, buf):
		return EFAULT
	}
	for _, b := range more {
		if !span.Within(m.bytes, b) {
			return EFAULT
		}
	}
	return 0
}

func (m *Memory) release() {
	if m != nil {
		m.uses.Add(-1)
	}
}
