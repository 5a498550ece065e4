package nic

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// MaxNameLen is the longest name of a host or board, in bytes. MX counts 80
// with the terminating NUL of a C string.
const MaxNameLen = 79

// Kind says what is behind a board.
type Kind uint8

const (
	// Host is the host itself: what reaches only processes on this machine.
	Host Kind = iota
	// Ethernet is any network interface with an address and no RDMA behind it.
	Ethernet
	// RDMA is an interface with an RDMA device behind it.
	RDMA
)

// String returns "host", "ethernet" or "rdma".
func (k Kind) String() string {
	switch k {
	case Host:
		return "host"
	case Ethernet:
		return "ethernet"
	case RDMA:
		return "rdma"
	default:
		return fmt.Sprintf("kind %d", uint8(k))
	}
}

// Board describes one board as it was when it was looked at.
type Board struct {
	// Number counts the boards of this host from 0.
	Number int
	// ID is the NIC id, made from the first of Addrs that no earlier board has.
	ID ID
	// Name is "host:number", and "localhost:number" for the host itself. Resolve leads back.
	Name string
	// Kind tells the host itself, plain networks and RDMA apart.
	Kind Kind
	// Interface is the operating system's name of the interface.
	Interface string
	// Addrs are the usable addresses, the one of ID first.
	Addrs []netip.Addr
	// Subnets are the networks that Addrs lie in, where they are known.
	Subnets []netip.Prefix
	// MAC is the hardware address, nil where there is none.
	MAC net.HardwareAddr
	// RDMA names the RDMA devices behind the interface.
	RDMA []string
	// Up says that the interface is switched on and has a carrier.
	Up bool
	// State is "up", "down" or "no carrier".
	State string
	// MTU is the largest packet of the interface in bytes.
	MTU int
	// NUMANode is the memory node the network card is attached to, -1 if unknown.
	NUMANode int
	// Speed is the line rate in words, such as "25 Gb/s"; empty if unknown.
	Speed string
	// Driver names the kernel driver or the kind of virtual interface; empty if
	// unknown.
	Driver string
}

func (b Board) clone() Board {
	b.Addrs = slices.Clone(b.Addrs)
	b.Subnets = slices.Clone(b.Subnets)
	b.MAC = slices.Clone(b.MAC)
	b.RDMA = slices.Clone(b.RDMA)
	return b
}

func (b *Board) hasAddr(addr netip.Addr) bool {
	return slices.ContainsFunc(b.Addrs, func(own netip.Addr) bool {
		return own.WithZone("") == addr.WithZone("")
	})
}

// candidate is an interface that may become a board.
type candidate struct {
	board   Board
	index   int
	virtual bool
	rank    int // which entry of a filter selected it
}

// arrange orders interfaces so that the first is the one a user would have
// chosen: as the filter names them, hardware before what containers and
// hypervisors set up, working before not working, then the order of the system.
// The host is last whatever happens.
func arrange(candidates []candidate, host Board, hostname string) []Board {
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(a.rank, b.rank),
			falseFirst(a.virtual, b.virtual),
			falseFirst(!a.board.Up, !b.board.Up),
			cmp.Compare(a.index, b.index),
		)
	})
	boards := make([]Board, 0, len(candidates)+1)
	taken := map[ID]bool{host.ID: true}
	for _, c := range candidates {
		if board, ok := withFreeID(c.board, taken); ok {
			taken[board.ID] = true
			boards = append(boards, board)
		}
	}
	boards = append(boards, host)
	number(boards, hostname)
	return boards
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// withFreeID gives the board the id of its first address that no earlier board
// took; two interfaces may carry the same address.
func withFreeID(board Board, taken map[ID]bool) (Board, bool) {
	for i, addr := range board.Addrs {
		id := IDOf(addr)
		if taken[id] {
			continue
		}
		board.ID = id
		rest := slices.Delete(slices.Clone(board.Addrs), i, i+1)
		board.Addrs = slices.Insert(rest, 0, addr)
		return board, true
	}
	return Board{}, false
}

func number(boards []Board, hostname string) {
	for i := range boards {
		boards[i].Number = i
		if boards[i].Name != "" {
			continue
		}
		host := shownHostname(hostname)
		if boards[i].Kind == Host {
			host = localhost
		}
		boards[i].Name = joinName(host, uint64(i))
	}
}

func joinName(host string, board uint64) string {
	return host + ":" + strconv.FormatUint(board, 10)
}

// shownHostname shortens a hostname to leave room for a board number.
func shownHostname(hostname string) string {
	const longest = MaxNameLen - len(":4294967295")
	if len(hostname) > longest {
		hostname, _, _ = strings.Cut(hostname, ".")
	}
	return hostname[:min(len(hostname), longest)]
}

func usable(addr netip.Addr) bool {
	return addr.IsGlobalUnicast()
}

func loopbackAddr() netip.Addr {
	return netip.AddrFrom4([4]byte{loopbackNet, 0, 0, 1})
}

// bareHost describes the host where nothing is known about its loopback.
func bareHost() Board {
	return Board{
		ID:       hostID,
		Kind:     Host,
		Addrs:    []netip.Addr{loopbackAddr()},
		State:    stateDown,
		NUMANode: -1,
		Driver:   "loopback",
	}
}
