package mx

import (
	"net/netip"
	"slices"

	"gomx/transport/nic"
	"gomx/transport/rdma"
)

// RDMAInfo says how this machine can use RDMA.
type RDMAInfo struct {
	Available bool       `json:"available"`        // some port can be used
	Reason    string     `json:"reason,omitempty"` // why none can
	Ports     []RDMAPort `json:"ports"`

	// MemoryNeed is how many bytes of memory an endpoint locks at least. MemoryLimit
	// is how many this process may lock (RLIMIT_MEMLOCK); 0: any number, or unknown.
	MemoryNeed  uint64 `json:"memory_need_bytes"`
	MemoryLimit uint64 `json:"memory_limit_bytes,omitempty"`
}

// RDMAPort is a port of an RDMA device, as it was when it was looked at.
type RDMAPort struct {
	Name      string `json:"name"`                // "mlx5_0/1", as MX_RDMA_DEVICE takes it
	State     string `json:"state"`               // "ACTIVE", "DOWN" and so on
	Layer     string `json:"layer"`               // "InfiniBand", "Ethernet" or "unknown"
	Rate      string `json:"rate,omitempty"`      // "100 Gb/sec (4X EDR)"
	Interface string `json:"interface,omitempty"` // of the network, beside it
	Board     int    `json:"board"`               // that it belongs to; -1: none
	LID       uint16 `json:"lid,omitempty"`       // on InfiniBand
	GID       string `json:"gid,omitempty"`       // to be used: "1 (10.0.0.1, RoCE v2, eth0)"; the first figure is its index
	GIDReason string `json:"gid_reason,omitempty"`
	Usable    bool   `json:"usable"`
	Reason    string `json:"reason,omitempty"` // why not
}

// RDMA looks at all ports of RDMA devices, and says whether endpoints can use them.
// Between Init and Finalize it knows which boards they belong to. Safe from any
// goroutine.
func RDMA() RDMAInfo {
	env, _ := readEnvironment()
	info := RDMAInfo{Ports: []RDMAPort{}, MemoryNeed: uint64(env.rdma.slots) * rdma.SlotSize}
	if limit, ok := rdma.MemoryLimit(); ok {
		info.MemoryLimit = limit
	}
	if err := rdma.Available(); err != nil {
		info.Reason = words(err)
	}
	info.Available = info.Reason == ""
	boards := knownBoards()
	addrs := func(p *rdma.Port) []netip.Addr {
		if b := boardOf(boards, p); b != nil {
			return b.Addrs
		}
		return nil
	}
	states, err := rdma.Look(addrs)
	if err != nil {
		info.Reason = words(err)
	}
	for i := range states {
		s := &states[i]
		p := RDMAPort{
			Name: s.Port.String(), State: s.State, Layer: s.Layer.String(), Rate: s.Rate, Interface: s.Interface,
			Board: -1, LID: s.LID, Usable: s.Unusable == "", Reason: s.Unusable, GIDReason: s.Why,
		}
		if s.Why != "" {
			p.GID = s.GID.String()
		}
		if b := boardOf(boards, &s.Port); b != nil {
			p.Board = b.Number
		}
		info.Ports = append(info.Ports, p)
	}
	return info
}

// knownBoards returns the boards of this host, or none before Init.
func knownBoards() []nic.Board {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if !lib.up {
		return nil
	}
	return lib.dir.Boards()
}

// boardOf returns the board that a port belongs to: that of its interface, or
// another one of its device, such as a VLAN. nil: none.
func boardOf(boards []nic.Board, p *rdma.Port) *nic.Board {
	has := func(b nic.Board) bool { return slices.Contains(b.RDMA, p.Device) }
	i := slices.IndexFunc(boards, func(b nic.Board) bool { return has(b) && b.Interface == p.Interface })
	if i < 0 {
		i = slices.IndexFunc(boards, has)
	}
	if i < 0 {
		return nil
	}
	return &boards[i]
}
