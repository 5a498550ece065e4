//go:build linux && !cgo

package rdma

import "gomx/transport"

// Open returns why there is no RDMA in this build.
func (t *Transport) Open(transport.Open) (transport.Port, error) { return nil, Available() }
