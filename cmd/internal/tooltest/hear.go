package tooltest

import (
	"os"
	"os/signal"
	"testing"
)

// Hear has this process not ignore a signal, as it may below nohup, so that a program it starts does not either.
func Hear(t *testing.T, s os.Signal) {
	t.Helper()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, s)
	t.Cleanup(func() { signal.Stop(heard) })
}
