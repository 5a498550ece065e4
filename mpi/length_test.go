//go:build linux && !race && (amd64 || arm64)

package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"gomx/mpi"
)

// TestTooLongIsNotCopied: calls that copy what can't leave at once refuse what is too long before they do.
func TestTooLongIsNotCopied(t *testing.T) {
	long, err := unix.Mmap(-1, 0, math.MaxUint32+1, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON) // which nothing may touch; Go may clear what it makes
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(long) }()
	world(t, 1, func(c *mpi.Comm) error {
		for name, call := range map[string]func() error{
			"Bsend":           func() error { return mpi.Bsend(c, long, 0, 3) },
			"Ibsend":          func() error { return second(mpi.Ibsend(c, long, 0, 3)) },
			"SendrecvReplace": func() error { return second(mpi.SendrecvReplace(c, long, 0, 3, 0, 3)) },
		} {
			before := allocated()
			err := call()
			if took := allocated() - before; took > uint64(len(long))/2 {
				return fmt.Errorf("%s has allocated %d bytes", name, took)
			}
			if err := wantError(err, mpi.ErrCount, 0); err != nil {
				return errors.Join(errors.New(name), err)
			}
		}
		return nil
	})
}

// TestRoomForMoreThanAMessage: a receive may have a longer buffer than any message.
func TestRoomForMoreThanAMessage(t *testing.T) {
	room, err := unix.Mmap(-1, 0, math.MaxUint32+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(room) }()
	waited := func(q mpi.Request, err error) error { return errors.Join(err, second(q.Wait())) }
	for checked, options := range map[string][]mpi.Option{"": nil, " checked": {mpi.WithCheckedCollectives()}} {
		world(t, 1, func(c *mpi.Comm) error {
			for name, call := range map[string]func() error{
				"Recv":  func() error { return second(mpi.Recv(c, room, 0, 3)) },
				"Irecv": func() error { return waited(mpi.Irecv(c, room, 0, 3)) },
				"any":   func() error { return waited(mpi.Irecv(c, room, mpi.AnySource, 3)) },
				"RecvInit": func() error {
					p, err := mpi.RecvInit(c, room, 0, 3)
					if err != nil {
						return err
					}
					return waited(p.Start())
				},
				"Mrecv": func() error {
					m, _, err := c.Mprobe(0, 3)
					if err != nil {
						return err
					}
					return second(mpi.Mrecv(m, room))
				},
				"layout to nobody": func() error {
					return errors.Join(second(mpi.Recv(c, room, 0, 3)), mpi.SendLayout(c, room, mpi.Contiguous(len(room)), mpi.ProcNull, 3))
				},
			} {
				clear(room[:1])
				if err := errors.Join(mpi.Bsend(c, []byte{7}, 0, 3), call()); err != nil || room[0] != 7 {
					return fmt.Errorf("%s%s: %v, got %d", name, checked, err, room[0])
				}
			}
			return nil
		}, options...)
	}
}

// allocated returns how many bytes the process has allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
