package nic

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

const (
	MaxLearnedPeers = maxLearnedPeers
	MaxAliases      = maxAliases
)

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

// Candidate is an interface before it is arranged among others. Its addresses
// may have the length of their network behind them.
type Candidate struct {
	Interface string
	Index     int
	Virtual   bool
	Up        bool
	Addrs     []string
}

func Arrange(hostname string, candidates ...Candidate) []Board {
	return arrange(made(candidates), bareHost(), hostname)
}

// Select arranges what the filter selects, and returns what it leaves out.
func Select(f Filter, hostname string, candidates ...Candidate) ([]Board, []netip.Addr, error) {
	host := bareHost()
	host.Interface = "lo"
	selected, out, err := f.apply(made(candidates), &host)
	return arrange(selected, host, hostname), out, err
}

func made(candidates []Candidate) []candidate {
	var list []candidate
	for _, c := range candidates {
		board := Board{Kind: Ethernet, Interface: c.Interface, Up: c.Up}
		var nets []netip.Prefix
		for _, text := range c.Addrs {
			own, err := netip.ParsePrefix(text)
			if err != nil {
				addr := netip.MustParseAddr(text)
				own = netip.PrefixFrom(addr, addr.BitLen())
			}
			nets = append(nets, own)
		}
		board.settle(nets)
		list = append(list, candidate{board: board, index: c.Index, virtual: c.Virtual})
	}
	return list
}

// NewDirectoryBeside is NewDirectoryFor on a host with more addresses than those
// of its boards.
func NewDirectoryBeside(hidden []netip.Addr, boards []Board, hostname string, lookup func(context.Context, string) ([]netip.Addr, error)) *Directory {
	d := NewDirectoryFor(boards, hostname, lookup)
	d.hidden = hidden
	return d
}

func StateOf(flags net.Flags) (bool, string) { return stateOf(flags) }

// PeersKnown counts the peers of a directory and the names they claimed.
func PeersKnown(t testing.TB, d *Directory) (peers, claims int) {
	t.Helper()
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.table.peers), len(d.table.claimed)
}
