// Package freeport chooses TCP ports for tests whose programs listen later. A port that the system chose may be given to somebody else before the
// program listens there, such as to another test that asks in the same moment.
package freeport

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// The ports lie below those of endpoints, and of those that Linux gives away by itself. Processes that run at the same time hardly ever have the
// same of so many shares of them.
const first, end, shares = 10_000, 20_000, 64

// taken counts the ports that this process has asked for.
var taken atomic.Uint32

// Take returns a port at which nobody listens. It returns another one each time.
func Take(t testing.TB) int {
	t.Helper()
	const each = (end - first) / shares
	for range each {
		port := first + int(taken.Add(1)%each)*shares + os.Getpid()%shares
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
