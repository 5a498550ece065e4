// Package profile writes the CPU profiles that the compiler optimizes benchmarks from.
package profile

import (
	"os"
	"runtime/pprof"
)

// Write runs f and writes a CPU profile of it to a file; "" is none. The error is f's, or that of the file.
func Write(file string, f func() error) error {
	if file == "" {
		return f()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	err = f()
	pprof.StopCPUProfile()
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
