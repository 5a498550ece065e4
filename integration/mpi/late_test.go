//go:build linux

package mpi_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mpi"
)

func init() { launched["late"] = lateReceiver }

// lateMessages of lateSize bytes are more than an endpoint stores by default of what nobody has received.
const (
	lateMessages = 200_000
	lateSize     = 500
)

// lateReceiver has rank 1 send much more than fits into the buffer, before rank 0 looks.
func lateReceiver(world *mpi.Comm) error {
	b := make([]byte, lateSize)
	if world.Rank() == 1 {
		for i := range lateMessages {
			binary.LittleEndian.PutUint64(b, uint64(i))
			if err := mpi.Send(world, b, 0, 7); err != nil {
				return err
			}
		}
		return world.Barrier()
	}
	time.Sleep(time.Second)
	for i := range lateMessages {
		st, err := mpi.Recv(world, b, mpi.AnySource, 7)
		if err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint64(b); st.Count != lateSize || got != uint64(i) {
			return fmt.Errorf("message %d is number %d, of %d bytes", i, got, st.Count)
		}
	}
	return world.Barrier()
}

// TestLateReceiver: a sender that fills the receiver's store waits, and goes on once the receiver does.
func TestLateReceiver(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	run := filepath.Join(proc.Build(t, "cmd/mx_run"), "mx_run")
	overEach(t, func(t *testing.T, medium string) {
		if lines, status := start(t, run, medium, 2, "late").Ends(); status != 0 {
			t.Errorf("status %d:\n%s", status, strings.Join(lines, "\n"))
		}
	})
}
