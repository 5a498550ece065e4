// Package child runs a process that ends when its parent does, however that ends.
package child

import (
	"os"
	"syscall"
)

// EndSignals ask a process to end.
var EndSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
