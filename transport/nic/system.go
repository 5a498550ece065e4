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
	boards, _, err := systemBoards(Filter{}, systemHostname())
	return boards, err
}

func systemHostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return localhost
	}
	return name
}

// systemBoards also returns the addresses of this host that the filter leaves
// out. With an error the host is the only board.
func systemBoards(f Filter, hostname string) (boards []Board, out []netip.Addr, err error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return arrange(nil, bareHost(), hostname), nil, fmt.Errorf("listing network interfaces: %w", err)
	}
	host := bareHost()
	var candidates []candidate
	volatile := volatileInet6()
	for _, ifc := range interfaces {
		if ifc.Flags&net.FlagLoopback != 0 {
			describeLoopback(&host, ifc)
			continue
		}
		if nets := usableNets(ifc, volatile); len(nets) > 0 {
			candidates = append(candidates, describe(ifc, nets))
		}
	}
	selected, out, err := f.apply(candidates, &host)
	return arrange(selected, host, hostname), out, err
}

func describe(ifc net.Interface, nets []netip.Prefix) candidate {
	details := systemSysfs.details(ifc.Name, ifc.Index)
	board := Board{
		Kind:      Ethernet,
		Interface: ifc.Name,
		MAC:       ifc.HardwareAddr,
		RDMA:      rdmaDevices(ifc.Name),
		MTU:       ifc.MTU,
		NUMANode:  details.numaNode,
		Speed:     details.speed,
		Driver:    details.driver,
	}
	board.settle(nets)
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
	for _, own := range interfaceNets(ifc) {
		addr := own.Addr()
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

// settle gives the board its addresses, each with the length of its network.
func (b *Board) settle(nets []netip.Prefix) {
	for _, own := range nets {
		b.Addrs = append(b.Addrs, own.Addr())
		if subnet := own.Masked(); !own.IsSingleIP() && !slices.Contains(b.Subnets, subnet) {
			b.Subnets = append(b.Subnets, subnet)
		}
	}
}

func interfaceNets(ifc net.Interface) []netip.Prefix {
	// An interface that vanishes between the listing and here has no addresses.
	listed, _ := ifc.Addrs()
	var nets []netip.Prefix
	for _, a := range listed {
		ipnet, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		if addr, ok := netip.AddrFromSlice(ipnet.IP); ok {
			bits, _ := ipnet.Mask.Size()
			nets = append(nets, netip.PrefixFrom(addr.Unmap(), bits))
		}
	}
	return nets
}

// usableNets puts IPv4 first, because its id can be read back by anyone, and
// addresses that will soon be replaced last, because the id should stay the same
// for processes that start on different days.
func usableNets(ifc net.Interface, volatile map[netip.Addr]bool) []netip.Prefix {
	nets := slices.DeleteFunc(interfaceNets(ifc), func(own netip.Prefix) bool { return !usable(own.Addr()) })
	slices.SortStableFunc(nets, func(a, b netip.Prefix) int {
		return cmp.Or(
			falseFirst(a.Addr().Is6(), b.Addr().Is6()),
			falseFirst(volatile[a.Addr()], volatile[b.Addr()]),
		)
	})
	return nets
}
