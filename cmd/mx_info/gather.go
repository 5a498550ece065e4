package main

import (
	"fmt"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
	"gomx/mx"
)

// findings is all that the program has found out, as -json prints it.
type findings struct {
	Version      string             `json:"version"`
	API          string             `json:"api"`
	Build        string             `json:"build"`
	Boards       []board            `json:"boards"`
	Limits       limits             `json:"limits"`
	Transports   []mx.TransportInfo `json:"transports"`
	SingleCopy   singleCopy         `json:"single_copy"`
	SharedMemory []mx.Diagnostic    `json:"shared_memory"`
	RDMA         mx.RDMAInfo        `json:"rdma"`
	Network      network            `json:"network"`
	Environment  []mx.Variable      `json:"environment,omitempty"`
}

type board struct {
	Number    int      `json:"number"`
	NICID     string   `json:"nic_id"`
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Interface string   `json:"interface"`
	Addresses []string `json:"addresses"`
	MAC       string   `json:"mac,omitempty"`
	RDMA      []string `json:"rdma,omitempty"`
	State     string   `json:"state"`
	Up        bool     `json:"up"`
	MTU       int      `json:"mtu"`
	NUMANode  int      `json:"numa_node"` // -1: unknown
	Speed     string   `json:"speed,omitempty"`
	Driver    string   `json:"driver,omitempty"`
}

// limits are in bytes where they aren't counts.
type limits struct {
	Endpoints     uint32 `json:"endpoints_per_board"`
	Segments      int    `json:"segments_per_message"`
	Message       uint64 `json:"message_bytes"`
	Eager         uint32 `json:"eager_bytes"`
	Inline        uint32 `json:"inline_bytes"`
	ContextIDBits int    `json:"context_id_bits"`
}

// gather finds everything out. The library is initialized with the variables.
func gather(o *options, variables []mx.Variable) (*findings, error) {
	f := &findings{Version: mx.Version, API: fmt.Sprintf("%#x", mx.API), Build: cmdline.Build(), Transports: mx.Transports()}
	boards, err := mx.Boards()
	if err != nil {
		return nil, err
	}
	if o.oneBoard {
		if err := processes.OneOf(boards, int64(o.board)); err != nil {
			return nil, err
		}
		boards = boards[o.board : o.board+1]
	}
	for i := range boards {
		f.Boards = append(f.Boards, describe(&boards[i]))
	}
	if f.Limits, err = findLimits(); err != nil {
		return nil, err
	}
	f.SingleCopy, f.SharedMemory = findSingleCopy(f.Transports, variables)
	f.RDMA = mx.RDMA()
	f.Network = findNetwork(f.Transports, variables, f.Boards[0].Number)
	return f, nil
}

func describe(b *mx.Board) board {
	d := board{
		Number: b.Number, NICID: b.ID.String(), Name: b.Name, Kind: b.Kind, Interface: b.Interface,
		MAC: b.MAC.String(), RDMA: b.RDMA, State: b.State, Up: b.Up, MTU: b.MTU,
		NUMANode: b.NUMANode, Speed: b.Speed, Driver: b.Driver, Addresses: []string{},
	}
	for _, a := range b.Addrs {
		d.Addresses = append(d.Addresses, a.String())
	}
	return d
}

func findLimits() (limits, error) {
	l := limits{Segments: mx.MaxSegments, Message: mx.MaxMessage, ContextIDBits: mx.ContextIDBitsMax}
	for key, to := range map[mx.InfoKey]*uint32{
		mx.MaxEndpointsKey: &l.Endpoints, mx.CopySendMax: &l.Eager, mx.PIOSendMax: &l.Inline,
	} {
		if err := mx.GetInfo(nil, key, 0, to); err != nil {
			return l, err
		}
	}
	return l, nil
}
