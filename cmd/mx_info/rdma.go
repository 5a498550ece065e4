package main

import (
	"fmt"
	"io"
	"strings"

	"gomx/mx"
)

// printRDMA says of each port of an RDMA device how it is used, or why it isn't.
func printRDMA(w io.Writer, r *mx.RDMAInfo) {
	if r.Available {
		fmt.Fprintln(w, "RDMA: yes")
	} else {
		fmt.Fprintf(w, "RDMA: no: %s\n", r.Reason)
	}
	for i := range r.Ports {
		printPort(w, &r.Ports[i])
	}
	if len(r.Ports) > 0 {
		fmt.Fprintf(w, "\t%s\n", memoryWords(r))
	}
}

func printPort(w io.Writer, p *mx.RDMAPort) {
	is := []string{p.Layer, p.State}
	if p.Rate != "" {
		is = append(is, p.Rate)
	}
	if p.Interface != "" {
		is = append(is, "interface "+p.Interface)
	}
	if p.Board >= 0 {
		is = append(is, fmt.Sprintf("board %d", p.Board))
	} else {
		is = append(is, "no board: MX_RDMA_DEVICE="+p.Name+" takes it all the same")
	}
	fmt.Fprintf(w, "\t%s: %s\n", p.Name, strings.Join(is, ", "))
	if p.GID != "" {
		fmt.Fprintf(w, "\t\tGID %s: %s\n", p.GID, p.GIDReason)
	}
	if p.LID != 0 {
		fmt.Fprintf(w, "\t\tLID %d\n", p.LID)
	}
	if !p.Usable {
		fmt.Fprintf(w, "\t\tcan't be used: %s\n", p.Reason)
	}
}

// memoryWords compares the memory that an endpoint locks with the limit for it.
func memoryWords(r *mx.RDMAInfo) string {
	const kib = 1 << 10
	need := fmt.Sprintf("an endpoint locks at least %d KiB of memory (MX_RDMA_SLOTS)", r.MemoryNeed/kib)
	switch {
	case r.MemoryLimit == 0:
		return need
	case r.MemoryLimit >= r.MemoryNeed:
		return fmt.Sprintf("%s, %d KiB are allowed", need, r.MemoryLimit/kib)
	}
	return fmt.Sprintf("%s, but only %d KiB are allowed (RLIMIT_MEMLOCK): raise that with ulimit -l or LimitMEMLOCK=, or lower MX_RDMA_SLOTS",
		need, r.MemoryLimit/kib)
}
