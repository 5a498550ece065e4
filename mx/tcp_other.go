//go:build !linux

package mx

import (
	"fmt"
	"runtime"
	"time"

	"gomx/transport"
)

// Defaults and bounds of the variables.
const (
	defaultPortBase       = 20000
	defaultKeepAlive      = 10 * time.Second
	defaultConnectTimeout = 3 * time.Second
	leastKeepAlive        = 3 * time.Second
)

// tcpTransport is shared by the transports that shake hands over TCP. There are none here.
type tcpTransport struct{}

var tcpMedium = medium{
	about: "processes on this and other hosts",
	far:   true,
	make: func(*site) (transport.Transport, error) {
		return nil, fmt.Errorf("%w: TCP needs Linux, this is %s", transport.ErrUnsupported, runtime.GOOS)
	},
}
