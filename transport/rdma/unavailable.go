//go:build !(linux && cgo)

package rdma

import (
	"fmt"

	"gomx/transport"
)

const notBuilt = "this program was built without it; it takes Linux and CGO_ENABLED=1"

// Available says that this build has no RDMA. It is transport.ErrUnsupported.
func Available() error {
	return fmt.Errorf("rdma: %w: %s", transport.ErrUnsupported, notBuilt)
}
