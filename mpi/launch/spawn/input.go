package spawn

import (
	"io"
	"time"

	"gomx/mpi/launch/internal/process"
)

// inForeground reads from a terminal while this process is in its foreground, and from anything else at any time.
type inForeground struct{ io.Reader }

// foregroundPoll is how often it looks whether the process has come to the foreground.
const foregroundPoll = 200 * time.Millisecond

// Read reads, once it may.
func (r inForeground) Read(b []byte) (n int, err error) {
	for {
		if n, err = r.Reader.Read(b); n > 0 || !process.InBackground(err) {
			return n, err
		}
		time.Sleep(foregroundPoll)
	}
}
