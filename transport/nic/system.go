package nic

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
)

const (
	stateUp        = "up"
	stateDown      = "down"
	stateNoCarrier = "no carrier"
)

// Boards looks at the interfaces of this host and returns its boards: hardware
// before virtual interfaces, the host itself last. An interface without a usable
// address is not a board. If the system refuses to list its interfaces, the
// host comes back as the only board together with the error. Each call looks
// again; it may be called from any goroutine.
func Boards() ([]Board, error) {
	return systemBoards(systemHostname())
}

func systemHostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return localhost
	}
	return name
}

func systemBoards(hostname string) ([]Board, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return arrange(nil, bareHost(), hostname), fmt.Errorf("listing network interfaces: %w", err)
	}
	host := bareHost()
	var candidates []candidate
	volatile := volatileInet6()
	for _, ifc := range interfaces {
		if ifc.Flags&net.FlagLoopback != 0 {
			describeLoopback(&host, ifc)
			continue
		}
		if addrs := usableAddrs(ifc, volatile); len(addrs) > 0 {
			candidates = append(candidates, describe(ifc, addrs))
		}
	}
	return arrange(candidates, host, hostname), nil
}

func describe(ifc net.Interface, addrs []netip.Addr) candidate {
	details := systemSysfs.details(ifc.Name, ifc.Index)
	board := Board{
		Kind:      Ethernet,
		Interface: ifc.Name,
		Addrs:     addrs,
		MAC:       ifc.HardwareAddr,
		RDMA:      rdmaDevices(ifc.Name),
		MTU:       ifc.MTU,
		NUMANode:  details.numaNode,
		Speed:     details.speed,
		Driver:    details.driver,
	}
	board.Up, board.State = stateOf(ifc.Flags)
	if len(board.RDMA) > 0 {
		board.Kind = RDMA
	}
	return candidate{board: board, index: ifc.Index, virtual: details.virtual}
}

func describeLoopback(host *Board, ifc net.Interface) {
	host.Interface = ifc.Name
	host.MTU = ifc.MTU
	host.Up, host.State = stateOf(ifc.Flags)
	for _, addr := range interfaceAddrs(ifc) {
		// A loopback interface may carry real addresses (anycast, routers); they
		// too lead to this host.
		if (addr.IsLoopback() || usable(addr)) && !host.hasAddr(addr) {
			host.Addrs = append(host.Addrs, addr)
		}
	}
}

func stateOf(flags net.Flags) (up bool, state string) {
	switch {
	case flags&net.FlagUp == 0:
		return false, stateDown
	case flags&net.FlagRunning == 0:
		return false, stateNoCarrier
	default:
		return true, stateUp
	}
}

func interfaceAddrs(ifc net.Interface) []netip.Addr {
	// An interface that vanishes between the listing and here has no addresses.
	listed, _ := ifc.Addrs()
	var addrs []netip.Addr
	for _, a := range listed {
		ipnet, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		if addr, ok := netip.AddrFromSlice(ipnet.IP); ok {
			addrs = append(addrs, addr.Unmap())
		}
	}
	return addrs
}

// usableAddrs puts IPv4 first, because its id can be read back by anyone, and
// addresses that will soon be replaced last, because the id should stay the same
// for processes that start on different days.
func usableAddrs(ifc net.Interface, volatile map[netip.Addr]bool) []netip.Addr {
	addrs := slices.DeleteFunc(interfaceAddrs(ifc), func(addr netip.Addr) bool { return !usable(addr) })
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int {
		return cmp.Or(
			falseFirst(a.Is6(), b.Is6()),
			falseFirst(volatile[a], volatile[b]),
		)
	})
	return addrs
}
