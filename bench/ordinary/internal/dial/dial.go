// Package dial listens and dials over what a program of bench/ordinary is told: Extended Sockets or TCP.
package dial

import (
	"context"
	"net"
	"time"

	"gomx/exs"
)

// patience is how long a server may take to be there.
const patience = 20 * time.Second

// Listen listens over exs or tcp.
func Listen(over, address string) (net.Listener, error) {
	if over == "exs" {
		return exs.Listen("exs", address)
	}
	return net.Listen("tcp", address)
}

// Dial connects to a listener of Listen, which need not be there yet.
func Dial(over, address string) (conn net.Conn, err error) {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if over == "exs" {
			conn, err = exs.Dial("exs", address)
		} else {
			conn, err = net.Dial("tcp", address)
		}
		if err == nil || time.Since(begin) > patience {
			return conn, err
		}
	}
}

// Context is Dial for an http.Transport.
func Context(over string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(_ context.Context, _, address string) (net.Conn, error) { return Dial(over, address) }
}
