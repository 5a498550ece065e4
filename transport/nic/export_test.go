package nic

import (
	"net"
	"net/netip"
	"testing"
)

const MaxLearnedPeers = maxLearnedPeers

var (
	ParseInet6    = parseInet6
	SpeedText     = speedText
	IsVirtualName = isVirtualName
)

// Sysfs reads details from a directory shaped like /sys/class/net.
func Sysfs(root, name string, index int) (virtual bool, numaNode int, speed, driver string) {
	d := sysfs(root).details(name, index)
	return d.virtual, d.numaNode, d.speed, d.driver
}

// Target is what a name was parsed into.
type Target struct {
	ID       ID
	Addr     netip.Addr
	Host     string
	Board    uint64
	HasBoard bool
}

func ParseTarget(name string) (Target, error) {
	t, err := parseTarget(name)
	return Target{t.id, t.addr, t.host, t.board, t.hasBoard}, err
}

// Candidate is an interface before it is arranged among others.
type Candidate struct {
	Interface string
	Index     int
	Virtual   bool
	Up        bool
	Addrs     []string
}

func Arrange(hostname string, candidates ...Candidate) []Board {
	var list []candidate
	for _, c := range candidates {
		board := Board{Kind: Ethernet, Interface: c.Interface, Up: c.Up}
		for _, text := range c.Addrs {
			board.Addrs = append(board.Addrs, netip.MustParseAddr(text))
		}
		list = append(list, candidate{board: board, index: c.Index, virtual: c.Virtual})
	}
	return arrange(list, bareHost(), hostname)
}

func StateOf(flags net.Flags) (bool, string) { return stateOf(flags) }

// PeersKnown counts the peers of a directory and the names they claimed.
func PeersKnown(t testing.TB, d *Directory) (peers, claims int) {
	t.Helper()
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.table.peers), len(d.table.claimed)
}
