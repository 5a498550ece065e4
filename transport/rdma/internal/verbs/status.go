//go:build linux && cgo

package verbs

import "fmt"

// Status is how a request has ended.
type Status uint32

// Those that callers tell apart. The numbers are those of the library.
const (
	Success         Status = 0
	Flushed         Status = 5  // the QP was in error before the request's turn came
	RemoteAccess    Status = 10 // the peer's memory is not open to it
	Unanswered      Status = 12 // the peer, or the network, does not answer
	NoReceivePosted Status = 13 // the peer had no receive for it all the time
)

var statusNames = [...]string{
	"success", "local length error", "local queue pair error", "local context error", "local protection error",
	"flushed", "memory window error", "bad response", "local access error", "the peer calls it invalid",
	"the peer's memory is not accessible", "error at the peer", "no answer from the peer",
	"the peer has no receive posted", "local domain violation", "invalid domain of a read", "aborted by the peer",
	"invalid context number", "invalid context state", "fatal error", "response timed out", "general error",
}

// String says what the status means.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("completion status %d", uint32(s))
}

// Error makes a Status an error. Success is none.
func (s Status) Error() string { return s.String() }
