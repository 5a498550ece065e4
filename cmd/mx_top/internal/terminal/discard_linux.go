package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard throws away what was written to a terminal that has not taken it, and has more written. Stopping it and starting
// it again wakes whoever waits in a write, which throwing away does not.
func discard(f *os.File) {
	fd := int(f.Fd())
	_ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH)
	_ = unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF)
	_ = unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON)
}
