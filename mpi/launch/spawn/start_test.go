package spawn

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// TestFailureWhileStarting: once a rank has failed, those that have not been started yet are not: nobody would end them.
func TestFailureWhileStarting(t *testing.T) {
	failed := make(chan struct{})
	var late bytes.Buffer
	err := Run(t.Context(), &Plan{
		Ranks:   2,
		Program: []string{"sh", "-c", "echo rank $PMI_RANK runs; exit 3"},
		Stdout: func(rank int) io.Writer {
			if rank == 0 {
				return io.Discard
			}
			<-failed
			return &late
		},
		Failed: func(*Failure, int) { close(failed) },
	})
	if f, ok := errors.AsType[*Failure](err); !ok || f.Rank != 0 || f.Code != 3 || late.Len() != 0 {
		t.Errorf("error %v, want that of rank 0; then %q", err, late.String())
	}
}
