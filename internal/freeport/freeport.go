// Package freeport chooses TCP ports for tests whose programs listen later. A port that the system chose may be given to somebody else before the
// program listens there, such as to another test that asks in the same moment.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
)

// The ports lie between those of the endpoints of transport/tcp and its tests, and those that Linux gives away by itself.
const first, end = 29_100, 32_768

// next is where this process looks for the next one: each process begins at another place.
var next atomic.Uint32

func init() { next.Store(rand.Uint32N(end - first)) }

// Take returns a port at which nobody listens. It returns another one each time.
func Take(t testing.TB) int {
	t.Helper()
	for range end - first {
		port := first + int(next.Add(1))%(end-first)
		l, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// Address returns the address of such a port on this host.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Take(t)))
}
