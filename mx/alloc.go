package mx

import (
	"fmt"

	"gomx/transport"
)

// Alloc returns n bytes, zeroed, from the process's shared arena. Peers on the host map the arena when they first need it, and
// then copy large messages from such memory without a system call: use it for buffers that large messages are sent from.
// Over shared memory it has no advantage for receive buffers. Over RDMA it has for both, since a piece of it is registered
// with the device once, when the first large message uses it.
//
// The memory is not garbage-collected: give it back with Free, after all
// requests on it have completed. The arena itself, address space and one descriptor, stays until the process ends. Without shared memory on this system it is
// ordinary memory. Errors: ErrBadParamVal for n < 1, ErrNoResources. Safe from any
// goroutine.
func Alloc(n int) ([]byte, error) {
	if n < 1 {
		return nil, fail("alloc", ErrBadParamVal, "", fmt.Errorf("%d bytes asked for", n))
	}
	b, err := arenaAlloc(n)
	if err != nil {
		return nil, fail("alloc", ErrNoResources, "", transport.Shortage(err))
	}
	return b, nil
}

// Free gives back memory that Alloc returned; b must begin where Alloc's slice
// began. Freeing twice, or memory of another origin, is ErrBadSegMem. Safe from
// any goroutine.
func Free(b []byte) error {
	if err := arenaFree(b); err != nil {
		return fail("free", ErrBadSegMem, "", err)
	}
	return nil
}
