package main

import (
	"strings"
	"testing"

	"gomx/mx"
)

func TestRDMAInWords(t *testing.T) {
	card := mx.RDMAPort{
		Name: "mlx5_0/1", State: "ACTIVE", Layer: "Ethernet", Rate: "100 Gb/sec (4X EDR)", Interface: "eth1", Board: 1,
		GID: "3 (10.0.0.1, RoCE v2, eth1)", GIDReason: "RoCE v2 with an address of the board", Usable: true,
	}
	down := mx.RDMAPort{Name: "mlx5_0/2", State: "DOWN", Layer: "InfiniBand", LID: 27, Board: -1, Reason: "the port is not active, but DOWN"}
	for name, c := range map[string]struct {
		info mx.RDMAInfo
		want string
	}{
		"no device": {mx.RDMAInfo{Reason: "this machine has no RDMA device"}, "RDMA: no: this machine has no RDMA device\n"},
		"all there is": {mx.RDMAInfo{Available: true, Ports: []mx.RDMAPort{card, down}, MemoryNeed: 4 << 20, MemoryLimit: 8 << 20},
			"RDMA: yes\n" +
				"\tmlx5_0/1: Ethernet, ACTIVE, 100 Gb/sec (4X EDR), interface eth1, board 1\n" +
				"\t\tGID 3 (10.0.0.1, RoCE v2, eth1): RoCE v2 with an address of the board\n" +
				"\tmlx5_0/2: InfiniBand, DOWN, no board: MX_RDMA_DEVICE=mlx5_0/2 takes it all the same\n" +
				"\t\tLID 27\n" +
				"\t\tcan't be used: the port is not active, but DOWN\n" +
				"\tan endpoint locks at least 4096 KiB of memory (MX_RDMA_SLOTS), 8192 KiB are allowed\n"},
		"little memory": {mx.RDMAInfo{Reason: "x", Ports: []mx.RDMAPort{card}, MemoryNeed: 4 << 20, MemoryLimit: 64 << 10},
			"only 64 KiB are allowed (RLIMIT_MEMLOCK): raise that with ulimit -l "},
		"any memory": {mx.RDMAInfo{Available: true, Ports: []mx.RDMAPort{card}, MemoryNeed: 4 << 20}, "4096 KiB of memory (MX_RDMA_SLOTS)\n"},
	} {
		var out strings.Builder
		printRDMA(&out, &c.info)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s:\n%swant\n%s", name, out.String(), c.want)
		}
	}
}
