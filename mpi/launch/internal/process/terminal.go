package process

import (
	"errors"
	"os/signal"

	"golang.org/x/sys/unix"
)

// IgnoreTerminal keeps a terminal from stopping this process, and the children that it starts, when they read or write in the background.
// Writing then works, and reading fails with EIO. The function that it returns ends that for this process.
func IgnoreTerminal() (end func()) {
	signal.Ignore(unix.SIGTTIN, unix.SIGTTOU)
	return func() { signal.Reset(unix.SIGTTIN, unix.SIGTTOU) }
}

// InBackground reports whether a read has failed because this process is in the background of its terminal, which is its standard input.
func InBackground(err error) bool {
	if !errors.Is(err, unix.EIO) {
		return false
	}
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}
