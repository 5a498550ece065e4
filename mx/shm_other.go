//go:build !linux

package mx

import (
	"fmt"
	"runtime"

	"gomx/transport"
	"gomx/transport/mem"
)

var shmMedium = medium{
	about: "processes on this host",
	make: func(*site) (transport.Transport, error) {
		return nil, fmt.Errorf("%w: shared memory needs Linux, this is %s", transport.ErrUnsupported, runtime.GOOS)
	},
}

func arenaAlloc(n int) ([]byte, error) { return make([]byte, n), nil }

func arenaFree([]byte) error { return nil }

// advisedEager is the eager limit of the transport that is used by itself.
const advisedEager = mem.DefaultEager
