package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// GIDType says how packets with a GID look on the wire. Both ends must use the same.
type GIDType uint8

// The types.
const (
	OtherGID GIDType = iota
	InfiniBandGID
	RoCEv1 // Ethernet frames of their own type: they pass no router
	RoCEv2 // UDP: they pass routers
)

// String returns "RoCE v2" and so on.
func (t GIDType) String() string {
	switch t {
	case InfiniBandGID:
		return "InfiniBand"
	case RoCEv1:
		return "RoCE v1"
	case RoCEv2:
		return "RoCE v2"
	}
	return "unknown"
}

// GID is an address of a port.
type GID struct {
	Index     int // in the port's table
	Type      GIDType
	Addr      netip.Addr // IPv4 addresses stand in IPv6 form in the table; here they don't
	Interface string     // empty on InfiniBand
}

// Bytes returns the GID as it travels.
func (g GID) Bytes() [16]byte { return g.Addr.As16() }

// String returns "1 (10.0.0.1, RoCE v2, eth0)".
func (g GID) String() string {
	s := fmt.Sprintf("%d (%v, %v", g.Index, g.Addr, g.Type)
	if g.Interface != "" {
		s += ", " + g.Interface
	}
	return s + ")"
}

// gids reads the table of the port whose directory is at.
func gids(at string, l Layer) []GID {
	var list []GID
	entries, _ := os.ReadDir(filepath.Join(at, "gids"))
	for _, e := range entries {
		index, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		addr, err := netip.ParseAddr(text(at, "gids", e.Name()))
		if err != nil || addr.IsUnspecified() {
			continue
		}
		list = append(list, GID{
			Index: index, Addr: addr.Unmap(),
			Type:      parseGIDType(text(at, "gid_attrs", "types", e.Name()), l),
			Interface: text(at, "gid_attrs", "ndevs", e.Name()),
		})
	}
	slices.SortFunc(list, func(a, b GID) int { return cmp.Compare(a.Index, b.Index) })
	return list
}

// parseGIDType tells the one name apart that the kernel has for two types.
func parseGIDType(s string, l Layer) GIDType {
	switch {
	case s == "RoCE v2":
		return RoCEv2
	case l == InfiniBand:
		return InfiniBandGID
	case s == "IB/RoCE v1":
		return RoCEv1
	}
	return OtherGID
}

// Errors of Choose. They come wrapped with the port.
var (
	ErrInactive = errors.New("the port is not active")
	ErrNoGID    = errors.New("no usable GID")
)

// Choose returns the GID to use for a board with these addresses, and says in words
// why it is this one.
//
// On InfiniBand it is the first. On Ethernet RoCE v2 goes before RoCE v1, because
// routers pass it on. Of one version a GID that is an address of the board goes
// first, then IPv4, then IPv6, and addresses that are good for one link only last.
func (p *Port) Choose(board []netip.Addr) (g GID, why string, err error) {
	if !p.Active() {
		return GID{}, "", fmt.Errorf("rdma: %v: %w, but %s", p, ErrInactive, p.State)
	}
	best := -1
	for _, have := range p.GIDs {
		if rank, words := p.rank(have, board); rank > best {
			best, g, why = rank, have, words
		}
	}
	if best < 0 {
		return GID{}, "", fmt.Errorf("rdma: %v: %w among %d", p, ErrNoGID, len(p.GIDs))
	}
	return g, why, nil
}

// rank is higher for better GIDs, and negative for those of no use.
func (p *Port) rank(g GID, board []netip.Addr) (rank int, why string) {
	const version2 = 10
	switch {
	case p.Layer == InfiniBand && g.Type == InfiniBandGID:
		return 0, "the first of the port"
	case p.Layer != Ethernet:
		return -1, ""
	case g.Type == RoCEv2:
		rank, why = version2, "RoCE v2"
	case g.Type == RoCEv1:
		why = "RoCE v1, as there is no RoCE v2"
	default:
		return -1, ""
	}
	own := slices.ContainsFunc(board, func(a netip.Addr) bool { return a.Unmap().WithZone("") == g.Addr })
	switch {
	case own:
		return rank + 3, why + " with an address of the board"
	case g.Addr.Is4():
		return rank + 2, why + " with an IPv4 address"
	case !g.Addr.IsLinkLocalUnicast():
		return rank + 1, why + " with an IPv6 address"
	}
	return rank, why + " with an address that is good for this link only"
}
