package mx

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"gomx/transport"
	"gomx/transport/shm"
)

var shmMedium = medium{
	about: "processes on this host",
	auto:  true,
	bell:  shm.NewBell,
	make: func(s *site) (transport.Transport, error) {
		e := s.env
		if e.noShm {
			return nil, fmt.Errorf("%w: switched off by MX_DISABLE_SHMEM", transport.ErrUnsupported)
		}
		return shm.New(shm.Options{NoSingleCopy: e.noSingleCopy, NoArena: e.noArena}), nil
	},
}

// noArena says that the system has refused shared memory, and that the memory of Alloc is ordinary from then on.
var noArena atomic.Bool

func arenaAlloc(n int) ([]byte, error) {
	if !noArena.Load() {
		b, err := shm.Alloc(n)
		if !errors.Is(err, os.ErrPermission) && !errors.Is(err, errors.ErrUnsupported) {
			return b, err
		}
		noArena.Store(true)
	}
	return make([]byte, n), nil
}

func arenaFree(b []byte) error {
	if noArena.Load() {
		return nil
	}
	return shm.Free(b)
}

// advisedEager is the eager limit of the transport that is used by itself.
const advisedEager = shm.DefaultEager
