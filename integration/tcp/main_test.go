//go:build linux

package tcp_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
	"gomx/mx"
)

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{traffic.RoleName: traffic.Role})
}

// needTCP skips a test on machines without the medium.
func needTCP(t testing.TB) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == "tcp" && !info.Available {
			t.Skip("no TCP on this machine: ", info.Reason)
		}
	}
}

// ports is how many ports each peer has to choose from.
const ports = 1100

// The first ports of two ranges, below those that the system hands out. They
// depend on the process, so that runs at the same time seldom meet.
var (
	leftPorts  = 6000 + os.Getpid()%6*2*ports
	rightPorts = leftPorts + ports
)

// host is where all peers of these tests are.
const host = "127.0.0.1"

// over returns the options of a peer that talks TCP only, with a range of ports.
func over(first int, env ...string) proc.Options {
	return proc.Options{Env: append([]string{
		"MX_DISABLE_SHMEM=1", "MX_TRANSPORT=tcp", "MX_NET=lo",
		fmt.Sprintf("MX_PORT_RANGE=%d-%d", first, first+ports-1),
	}, env...)}
}

// start starts a peer with an endpoint of the given number.
func start(t testing.TB, first, id int, env ...string) *traffic.Peer {
	t.Helper()
	needTCP(t)
	p := traffic.Start(t, over(first, env...))
	p.Open(id)
	return p
}

// pairs counts the pairs, each of which has endpoint numbers of its own: tests that wait run beside others.
var pairs atomic.Uint32

// pair starts two peers in one range of ports, and connects them both ways.
func pair(t testing.TB, env ...string) (a, b *traffic.Peer, toB, toA uint32) {
	t.Helper()
	first := int(pairs.Add(1)*2%(third-2)) + 1
	a, b = start(t, leftPorts, first, env...), start(t, leftPorts, first+1, env...)
	return a, b, a.Connect(host, b.ID), b.Connect(host, a.ID)
}

// third is the endpoint number of another peer in the range of a pair's.
const third = ports - 16

// exchange has two peers send each other messages, and checks them.
func exchange(t testing.TB, a, b *traffic.Peer, toB, toA uint32, count int, s traffic.Sizes) {
	t.Helper()
	a.Duplex(toB, count, s)
	b.Duplex(toA, count, s)
	a.Sunk()
	b.Sunk()
}

// scale returns a count, or less of it for a short run.
func scale(count int) int {
	if testing.Short() {
		return count / 10
	}
	return count
}
