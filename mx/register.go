package mx

import (
	"errors"
	"fmt"

	"gomx/endpoint/driver"
)

// Memory is memory that an endpoint has registered. Its methods may be called
// from any goroutine.
type Memory struct {
	ep      *Endpoint
	bytes   []byte
	release func() error
}

// Register registers memory for large messages of the endpoint. RDMA devices then read and write it directly. Other memory is
// registered anew for each message, or its bytes are copied. Messages may use any part of the registered memory. Other
// transports need no registration, so without RDMA Register does nothing.
//
// Until Deregister the memory stays in RAM where it is, and counts towards the
// limit of memory that the process may lock (RLIMIT_MEMLOCK). Memory of the Go heap
// is not collected meanwhile. Memory of Alloc need not be registered; if it is, it
// must be deregistered before it is freed. It may be registered more than once, and
// with several endpoints. The rules for buffers are the same as for others: while a
// request uses a part, the rest may be used for anything.
//
// Errors: ErrBadParamVal for no bytes, ErrNoResources with the medium, the size and
// what would help, ErrBadEndpoint. After an error nothing stays registered. Safe from
// any goroutine.
func (ep *Endpoint) Register(b []byte) (*Memory, error) {
	if len(b) == 0 {
		return nil, ep.fail("register", "", fmt.Errorf("%w: no bytes", ErrBadParamVal))
	}
	release, err := ep.d.Register(b)
	if err != nil {
		if codeOf(err) == ErrFailure {
			err = fmt.Errorf("%w: %d bytes: %w", ErrNoResources, len(b), err)
		}
		return nil, ep.fail("register", "", err)
	}
	return &Memory{ep, b, release}, nil
}

// Bytes returns the memory. It stays the caller's after Deregister.
func (m *Memory) Bytes() []byte { return m.bytes }

// Deregister ends the registration, after all requests on the memory have
// completed. Closing the endpoint does so too, and Deregister is then
// ErrBadEndpoint. Twice is ErrBadSegMem.
func (m *Memory) Deregister() error {
	err := m.release()
	if errors.Is(err, driver.ErrReleased) {
		err = fmt.Errorf("%w: %w", ErrBadSegMem, err)
	}
	return m.ep.fail("deregister", "", err)
}
