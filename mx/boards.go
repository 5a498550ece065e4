package mx

import (
	"net"
	"net/netip"

	"gomx/transport/nic"
)

// Version is the version of this library.
const Version = "0.1.0"

// API is the version of MX's interface that it follows, as in MX's headers.
const API = 0x301

// NICID is the id of a NIC that calls take as a uint64.
type NICID uint64

// String returns the id as it is written everywhere: six bytes in hexadecimal, with colons between them.
func (id NICID) String() string { return nic.ID(id).String() }

// Board describes a board, as it was when Boards was called: a way onto a network, and always at least the host.
type Board struct {
	Number    int              // counts the boards of this host from 0
	ID        NICID            // made from the first of Addrs that no earlier board has
	Name      string           // "host:number", and "localhost:number" for the host itself; HostnameToNICID takes it
	Kind      string           // "host", which reaches only processes on this machine, "ethernet" or "rdma"
	Interface string           // the operating system's name of the network interface
	Addrs     []netip.Addr     // the usable addresses, the one of ID first
	Subnets   []netip.Prefix   // the networks that Addrs lie in, where they are known
	MAC       net.HardwareAddr // nil where there is none
	RDMA      []string         // the RDMA devices behind the interface
	Up        bool             // the interface is switched on and has a carrier
	State     string           // "up", "down" or "no carrier"
	MTU       int              // the largest packet of the interface, bytes
	NUMANode  int              // the memory node that the network card is attached to; -1: unknown
	Speed     string           // the line rate in words, such as "25 Gb/s"; empty if unknown
	Driver    string           // the kernel driver, or the kind of virtual interface; empty if unknown
}

// Boards returns the boards of this host, in the order of their numbers. Error:
// ErrNotInitialized. Safe from any goroutine.
func Boards() ([]Board, error) {
	dir, err := directory("boards")
	if dir == nil {
		return nil, err
	}
	var all []Board
	for _, b := range dir.Boards() {
		all = append(all, boardFrom(b))
	}
	return all, nil
}

func boardFrom(b nic.Board) Board {
	return Board{
		Number: b.Number, ID: NICID(b.ID), Name: b.Name, Kind: b.Kind.String(), Interface: b.Interface, Addrs: b.Addrs, Subnets: b.Subnets,
		MAC: b.MAC, RDMA: b.RDMA, Up: b.Up, State: b.State, MTU: b.MTU, NUMANode: b.NUMANode, Speed: b.Speed, Driver: b.Driver,
	}
}
