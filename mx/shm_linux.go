package mx

import (
	"fmt"

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

func arenaAlloc(n int) ([]byte, error) { return shm.Alloc(n) }

func arenaFree(b []byte) error { return shm.Free(b) }

// advisedEager is the eager limit of the transport that is used by itself.
const advisedEager = shm.DefaultEager
