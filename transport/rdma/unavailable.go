//go:build !(linux && cgo)

package rdma

import (
	"fmt"

	"gomx/transport"
)

// Available says that this build has no RDMA. It is transport.ErrUnsupported.
func Available() error {
	return fmt.Errorf("rdma: %w: this program was built without it; it takes Linux and CGO_ENABLED=1",
		transport.ErrUnsupported)
}
