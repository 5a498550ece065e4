// Package freeport chooses TCP ports for tests whose programs listen later. A port that the system chose may be given to somebody else before the
// program listens there, such as to another test that asks in the same moment.
package freeport

import (
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// The ports lie below those of endpoints, and below the ephemeral range of Linux. Each process has a share of them.
const (
	first, end, shares = 10_000, 20_000, 64
	each               = (end - first) / shares
)

// taken counts the ports that this process has asked for.
var taken atomic.Uint32

// own is the share of this process. Its first port is not given away: the process listens there while it lives, so that no other one takes
// the same share.
var own = sync.OnceValue(func() share {
	for i := range shares {
		s := share{number: (os.Getpid() + i) % shares}
		var err error
		if s.held, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+s.number))); err == nil {
			return s
		}
	}
	return share{number: os.Getpid() % shares}
})

type share struct {
	number int
	held   net.Listener // closed with the process
}

// Take returns a port at which nobody listens, and another one each time until there are no others. It does not listen there to find that out: a
// process that is started meanwhile would have the listener for a moment longer.
func Take(t testing.TB) int {
	t.Helper()
	for range each {
		port := first + (1+int(taken.Add(1)%(each-1)))*shares + own().number
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return port
		}
		_ = c.Close()
	}
	t.Fatal("no port is free")
	return 0
}

// Address returns the address of such a port on this host.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Take(t)))
}
