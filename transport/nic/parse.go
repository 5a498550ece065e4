package nic

import (
	"net/netip"
	"strconv"
	"strings"
)

const localhost = "localhost"

// target is what a name says before anybody was asked about it: exactly one of
// id, addr and host is set.
type target struct {
	id       ID
	addr     netip.Addr
	host     string
	board    uint64
	hasBoard bool
}

// parseTarget understands, in this order:
//
//	0x02007f000001  02:00:7f:00:00:01     a NIC id
//	[fd00::2]  [fd00::2]:1                an IPv6 address, with a board
//	fd00::2  10.0.0.2                     an address
//	10.0.0.2:1  host  host:1              an address or a host, with a board
func parseTarget(name string) (target, error) {
	switch {
	case name == "":
		return target{}, errNameEmpty
	case len(name) > MaxNameLen:
		return target{}, errNameTooLong
	}
	// A host may well be called 0xide, so what fails here isn't an error yet.
	if id, err := ParseID(name); err == nil {
		return target{id: id}, nonzero(id)
	}
	if name[0] == '[' {
		return parseBracketed(name)
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return addressTarget(addr)
	}
	host, number, hasBoard := strings.Cut(name, ":")
	var t target
	if addr, err := netip.ParseAddr(host); err == nil {
		if t, err = addressTarget(addr); err != nil {
			return target{}, err
		}
	} else if t.host = strings.TrimSuffix(host, "."); !isHostName(t.host) {
		return target{}, errNameMalformed
	}
	return t.withBoard(number, hasBoard)
}

func nonzero(id ID) error {
	if id == 0 {
		return errNotAHost
	}
	return nil
}

func parseBracketed(name string) (target, error) {
	inner, rest, closed := strings.Cut(name[1:], "]")
	addr, err := netip.ParseAddr(inner)
	if !closed || err != nil || !addr.Is6() {
		return target{}, errNameMalformed
	}
	t, err := addressTarget(addr)
	if err != nil {
		return target{}, err
	}
	number, hasBoard := strings.CutPrefix(rest, ":")
	if !hasBoard && rest != "" {
		return target{}, errNameMalformed
	}
	return t.withBoard(number, hasBoard)
}

// addressTarget keeps the zone only where it decides which way to go.
func addressTarget(addr netip.Addr) (target, error) {
	zone := addr.Zone()
	addr = addr.Unmap().WithZone("")
	switch {
	case addr.IsLinkLocalUnicast() && zone != "":
		if !isHostName(zone) {
			return target{}, errNameMalformed
		}
		addr = addr.WithZone(zone)
	case !usable(addr) && !addr.IsLoopback() && !addr.IsLinkLocalUnicast():
		return target{}, errNotAHost
	}
	return target{addr: addr}, nil
}

func (t target) withBoard(number string, hasBoard bool) (target, error) {
	if !hasBoard {
		return t, nil
	}
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return target{}, errNameMalformed
	}
	board, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		// Too many digits for a number: ask for a board nobody has.
		board = ^uint64(0)
	}
	t.board, t.hasBoard = board, true
	return t, nil
}

// isHostName is stricter than a resolver: names end up in terminals and logs.
func isHostName(host string) bool {
	if host == "" || host[0] == '.' || host[0] == '-' || strings.Contains(host, "..") {
		return false
	}
	for i := range len(host) {
		if !isHostByte(host[i]) {
			return false
		}
	}
	return true
}

// isNumeric is true for what some resolvers stretch into an address nobody
// meant: "127.1", "0x7f000001", "12345678".
func isNumeric(host string) bool {
	label := host[strings.LastIndexByte(host, '.')+1:]
	if digits, ok := cutHexPrefix(label); ok {
		return strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func isHostByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// fold makes spellings of one name equal: case and a final dot don't count.
func fold(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// IsLocalhost reports whether a name is "localhost" as it stands, without a board.
func IsLocalhost(name string) bool { return fold(name) == localhost }

func isLocalhost(folded string) bool {
	return folded == localhost || folded == "localhost.localdomain" || strings.HasSuffix(folded, ".localhost")
}

func firstLabel(host string) string {
	label, _, _ := strings.Cut(host, ".")
	return label
}
