package mpi

import (
	"os"
	"time"
)

var loaded = time.Now()

// Wtime returns the seconds that have passed since some moment before the program began to use
// it (MPI_Wtime). Differences count: they don't jump when the clock of the host is set. The
// moment differs from process to process. Any goroutine may call it.
func Wtime() float64 { return time.Since(loaded).Seconds() }

// ProcessorName returns the name of the host (MPI_Get_processor_name), or "unknown" where the
// system does not tell. Any goroutine may call it.
func ProcessorName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
