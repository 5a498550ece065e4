// Package dial listens and dials over what a program of bench/ordinary is told: Extended Sockets, TCP or a Unix socket.
package dial

import (
	"context"
	"net"
	"time"

	"gomx/exs"
)

// patience is how long a server may take to be there.
const patience = 20 * time.Second

// Listen listens over exs, tcp or unix.
func Listen(over, address string) (net.Listener, error) {
	if over == "exs" {
		return exs.Listen("exs", address)
	}
	return net.Listen(over, address)
}

// Once connects to a listener of Listen that is there.
func Once(over, address string) (net.Conn, error) {
	if over == "exs" {
		return exs.Dial("exs", address)
	}
	return net.Dial(over, address)
}

// Dial connects to a listener of Listen, which need not be there yet.
func Dial(over, address string) (conn net.Conn, err error) {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err = Once(over, address)
		if err == nil || time.Since(begin) > patience {
			return conn, err
		}
	}
}

// Context is Dial for an http.Transport and its like. Where it leads is settled here: URLs have no words for the path of a Unix socket.
func Context(over, address string) func(ctx context.Context, network, host string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return Dial(over, address) }
}
