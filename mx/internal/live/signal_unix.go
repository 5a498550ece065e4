//go:build unix

package live

import (
	"os"
	"os/signal"
	"syscall"
)

// OnUser1 has a value sent to the channel for each SIGUSR1 of the process, until stop is called. False: this system has no such signal.
func OnUser1() (c chan os.Signal, stop func(), ok bool) {
	c = make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }, true
}
