package spawn

import (
	"errors"
	"io"
	"testing"
)

// full is a writer that has no room.
type full struct{ closed bool }

var errFull = errors.New("no room")

func (f *full) Write([]byte) (int, error) { return 0, errFull }
func (f *full) Close() error              { f.closed = true; return nil }

// TestOutputLost: a rank whose output can't be written has failed for that reason, however it ends then.
func TestOutputLost(t *testing.T) {
	for name, script := range map[string]string{
		"it is killed by SIGPIPE": "while :; do echo more; done",
		"it exits with an error":  "trap '' PIPE; while echo more 2>&-; do :; done; exit 3",
		"it does well":            "echo more",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &full{}
			err := Run(t.Context(), &Plan{
				Ranks: 1, Program: []string{"sh", "-c", script}, Stdout: func(int) io.Writer { return to },
			})
			f, ok := errors.AsType[*Failure](err)
			if !ok || f.Code != codeNotFinalized || f.What != "has output that was not written: no room" || !to.closed {
				t.Errorf("error %v, closed %v", err, to.closed)
			}
		})
	}
}
