package tracefile

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// hasSpace returns an error if a folder has no space for so many bytes, so that nobody fills a disk in order to find out.
func hasSpace(folder string, size int) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return nil // writing tells
	}
	if free := uint64(st.Bavail) * uint64(st.Bsize); uint64(size) > free {
		return fmt.Errorf("%s: %w: %d bytes are wanted, and %d are free", folder, unix.ENOSPC, size, free)
	}
	return nil
}
