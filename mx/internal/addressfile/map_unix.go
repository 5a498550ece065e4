//go:build unix

package addressfile

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mapFile maps a file that nobody but this user can have written.
func mapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // of a FIFO nobody waits for a writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is no regular file", ErrFormat)
	case !known || int(owner.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%w: it is another user's", ErrOwner)
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("%w: its mode is %v", ErrOwner, info.Mode().Perm())
	case info.Size() < headSize || info.Size() > headSize+MostRecords*recordSize:
		return nil, fmt.Errorf("%w: it has %d bytes", ErrFormat, info.Size())
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping: %w", err)
	}
	return mem, nil
}

func unmap(mem []byte) error { return unix.Munmap(mem) }
