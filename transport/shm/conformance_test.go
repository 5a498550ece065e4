//go:build linux

package shm_test

import (
	"os"
	"sync/atomic"
	"testing"

	"gomx/transport"
	"gomx/transport/shm"
	"gomx/transport/transporttest"
)

// nextBoard gives each subtest a board of its own, and those of other processes.
var nextBoard atomic.Uint64

func factory(opt shm.Options) transporttest.Factory {
	var board uint64
	return transporttest.Factory{
		Name: "shm",
		New: func(t testing.TB) transport.Transport {
			board = uint64(os.Getpid())<<16 | nextBoard.Add(1)
			tr := shm.New(opt)
			if err := tr.Available(); err != nil {
				t.Skip(err)
			}
			return tr
		},
		NewBell: func(t testing.TB) transport.Doorbell {
			b, err := shm.NewBell()
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		Address: func(i int) transport.Address { return transport.Address{NIC: board, Endpoint: uint32(i)} },
	}
}

func TestConformance(t *testing.T) { transporttest.Run(t, factory(shm.Options{})) }
