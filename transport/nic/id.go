package nic

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ID names one board of one host. It has the form of a MAC address in the low
// 48 bits, first octet highest. Zero names nothing.
type ID uint64

// Both prefixes have the "locally administered" bit of a MAC address set, so no
// id made here is the MAC address of a network card that somebody bought.
const (
	ipv4Prefix  = 0x0200
	ipv6Prefix  = 0x06
	idBits      = 48
	ipv6Hash    = 40
	loopbackNet = 127
)

const hostID = ID(ipv4Prefix<<32 | loopbackNet<<24 | 1)

// IDOf returns the NIC id of an address: 02:00:a:b:c:d for IPv4 (also written
// as IPv4 in IPv6), 06 and a 40-bit hash for IPv6, whose zone doesn't count, and
// 0 for an invalid address. It may be called from any goroutine.
func IDOf(addr netip.Addr) ID {
	addr = addr.Unmap().WithZone("")
	switch {
	case addr.Is4():
		octets := addr.As4()
		return ID(ipv4Prefix<<32 | uint64(binary.BigEndian.Uint32(octets[:])))
	case addr.Is6():
		octets := addr.As16()
		sum := sha256.Sum256(octets[:])
		return ID(ipv6Prefix<<ipv6Hash | binary.BigEndian.Uint64(sum[:])>>(64-ipv6Hash))
	default:
		return 0
	}
}

// Addr returns the address inside an id of the IPv4 form, and false for every
// other id.
func (id ID) Addr() (netip.Addr, bool) {
	if id>>32 != ipv4Prefix {
		return netip.Addr{}, false
	}
	var octets [4]byte
	binary.BigEndian.PutUint32(octets[:], uint32(id))
	return netip.AddrFrom4(octets), true
}

func (id ID) isLoopback() bool {
	addr, ok := id.Addr()
	return ok && addr.IsLoopback()
}

// String prints the id like a MAC address, 02:00:7f:00:00:01, or as a
// hexadecimal number if it doesn't fit into 48 bits.
func (id ID) String() string {
	if id>>idBits != 0 {
		return fmt.Sprintf("0x%016x", uint64(id))
	}
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x",
		byte(id>>40), byte(id>>32), byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

var errNotAnID = errors.New("not a NIC id")

// ParseID reads an id as String prints it, or as a hexadecimal number with 0x in
// front.
func ParseID(text string) (ID, error) {
	if digits, ok := cutHexPrefix(text); ok {
		value, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			return 0, fmt.Errorf("%w: %q", errNotAnID, text)
		}
		return ID(value), nil
	}
	if !looksLikeMAC(text) {
		return 0, fmt.Errorf("%w: %q", errNotAnID, text)
	}
	value, err := strconv.ParseUint(strings.ReplaceAll(text, ":", ""), 16, idBits)
	if err != nil {
		return 0, fmt.Errorf("%w: %q", errNotAnID, text)
	}
	return ID(value), nil
}

func cutHexPrefix(text string) (string, bool) {
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		return digits, true
	}
	return strings.CutPrefix(text, "0X")
}

func looksLikeMAC(text string) bool {
	const length = len("00:00:00:00:00:00")
	if len(text) != length {
		return false
	}
	for i := range length {
		if isColon := text[i] == ':'; isColon != (i%3 == 2) {
			return false
		}
	}
	return true
}
