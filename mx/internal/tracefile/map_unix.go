//go:build unix

package tracefile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file, and touches its pages, so that events need not.
func mapFile(f *os.File, size int) ([]byte, error) {
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", f.Name(), err)
	}
	for at := 0; at < size; at += os.Getpagesize() {
		mem[at] = 0
	}
	return mem, nil
}

func unmap(mem []byte) error { return unix.Munmap(mem) }
