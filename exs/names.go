package exs

import (
	"math/rand/v2"
	"net/netip"
	"sync"
)

// names are the addresses of the clients that a listener is connected to directly. The system gives each connection over TCP a port of
// its own; those of direct connections the clients choose themselves, each for itself, and below those of the system. The
// listener grants no two the same.
type names struct {
	mu   sync.Mutex
	used map[netip.AddrPort]bool
}

// take takes an address, unless another connection has it.
func (n *names) take(a netip.AddrPort) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.used[a] {
		return false
	}
	if n.used == nil {
		n.used = map[netip.AddrPort]bool{}
	}
	n.used[a] = true
	return true
}

func (n *names) giveBack(a netip.AddrPort) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.used, a)
}

// The ports of direct connections: those below the ports that Linux gives out.
const (
	firstPort = 1024
	lastPort  = 32767
)

// somePort returns a port to count up from. Clients in several processes would meet if they all began with the port that the system has
// given them, as these are close together.
func somePort() uint16 { return uint16(firstPort + rand.IntN(lastPort+1-firstPort)) }

// nextPort returns the port behind another.
func nextPort(port uint16) uint16 {
	if port >= lastPort {
		return firstPort
	}
	return port + 1
}
