//go:build !unix

package cmdline

import "os"

// EndSignals are the signals that ask a program to end, for os/signal: those of a program that has to leave something as it was.
func EndSignals() []os.Signal { return []os.Signal{os.Interrupt} }
