package ring_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"gomx/transport/shm/internal/ring"
)

// mapped returns ring memory outside the Go heap, which the race detector does
// not watch: the ring's plain stores are ordered by the processor, not by what
// the detector knows of.
func mapped(t testing.TB) []byte {
	t.Helper()
	size := (ring.Size + 4095) &^ 4095
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	return mem
}
