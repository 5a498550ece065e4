package nic

import (
	"bufio"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

const procInet6 = "/proc/net/if_inet6"

// volatileInet6 returns the IPv6 addresses of this host that are temporary
// (privacy extensions), being given up, or not yet confirmed to be unique. Where
// the system doesn't tell, none are.
func volatileInet6() map[netip.Addr]bool {
	file, err := os.Open(procInet6)
	if err != nil {
		return nil
	}
	defer file.Close()
	return parseInet6(file)
}

// parseInet6 reads lines of: 32 hex digits of address, interface index, prefix
// length, scope, flags, interface name. The numbers are hexadecimal.
func parseInet6(r io.Reader) map[netip.Addr]bool {
	const (
		temporary  = 0x01
		dadFailed  = 0x08
		deprecated = 0x20
		tentative  = 0x40
		flagsField = 4
	)
	volatile := map[netip.Addr]bool{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) <= flagsField {
			continue
		}
		octets, err := hex.DecodeString(fields[0])
		if err != nil {
			continue
		}
		flags, err := strconv.ParseUint(fields[flagsField], 16, 32)
		if err != nil || flags&(temporary|dadFailed|deprecated|tentative) == 0 {
			continue
		}
		if addr, ok := netip.AddrFromSlice(octets); ok {
			volatile[addr.Unmap()] = true
		}
	}
	return volatile
}
