//go:build !linux

package mx

import (
	"gomx/transport"
	"gomx/transport/rdma"
)

var rdmaMedium = medium{
	about: "processes on this and other hosts, over RDMA devices",
	far:   true,
	make:  func(*site) (transport.Transport, error) { return nil, rdma.Available() },
}
