//go:build linux

package tcp

import (
	"fmt"

	"gomx/transport"
)

// Purpose is what a connection to an endpoint is for. The side that dials says it
// in its hello.
type Purpose uint32

// The purposes there are.
const (
	Frames Purpose = 0 // frames of this transport
	RDMA   Purpose = 1 // the set-up of RDMA
)

// String names the purpose.
func (p Purpose) String() string {
	switch p {
	case Frames:
		return "frames"
	case RDMA:
		return "RDMA"
	}
	return fmt.Sprintf("purpose %d", uint32(p))
}

// notServedError says that the endpoint that was dialled does not serve a purpose.
type notServedError struct{ purpose Purpose }

// Error names the purpose.
func (e *notServedError) Error() string {
	return fmt.Sprintf("%v: it does not speak %v", transport.ErrRefused, e.purpose)
}

// Unwrap returns what a caller looks for that has another transport to try.
func (e *notServedError) Unwrap() []error {
	return []error{transport.ErrRefused, transport.ErrUnsupported}
}
