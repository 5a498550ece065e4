package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gomx/mx"
)

var rule = strings.Repeat("=", 67)

// print writes the findings in the manner of MX's mx_info.
func (f *findings) print(to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "MX Version: %s (API %s)\n", f.Version, f.API)
	fmt.Fprintf(w, "MX Build:   %s\n\n", f.Build)
	if n := len(f.Boards); n == 1 {
		fmt.Fprintln(w, "1 board.")
	} else {
		fmt.Fprintf(w, "%d boards.\n", n)
	}
	fmt.Fprintf(w, "%d endpoints per board, %d segments and %d bytes per message,\n",
		f.Limits.Endpoints, f.Limits.Segments, f.Limits.Message)
	fmt.Fprintf(w, "messages up to %d bytes travel with their header, up to %d bytes in its line.\n",
		f.Limits.Eager, f.Limits.Inline)
	for i := range f.Boards {
		f.Boards[i].print(w)
	}
	fmt.Fprintln(w, rule)
	f.printTransports(w)
	f.printSingleCopy(w)
	printRDMA(w, &f.RDMA)
	f.Network.print(w)
	return w.Flush()
}

func (b *board) print(w io.Writer) {
	fmt.Fprintln(w, rule)
	fmt.Fprintf(w, "Board #%d:  %s\n", b.Number, b.Name)
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "\t%-12s %s\n", name+":", value)
		}
	}
	field("Status", b.State)
	field("NIC id", b.NICID)
	field("Address", strings.Join(b.Addresses, ", "))
	field("Interface", b.Interface+" ("+b.Kind+")")
	field("MAC address", b.MAC)
	field("RDMA", strings.Join(b.RDMA, ", "))
	field("Driver", b.Driver)
	field("Speed", b.Speed)
	if b.MTU > 0 {
		field("MTU", fmt.Sprint(b.MTU))
	}
	if b.NUMANode >= 0 {
		field("NUMA node", fmt.Sprint(b.NUMANode))
	}
}

func (f *findings) printTransports(w io.Writer) {
	fmt.Fprintln(w, "Transports:")
	for _, t := range f.Transports {
		state := "yes"
		if !t.Available {
			state = "no: " + t.Reason
		}
		fmt.Fprintf(w, "\t%-5s %s (%s)\n", t.Name, state, t.About)
	}
}

func (f *findings) printSingleCopy(w io.Writer) {
	state := "yes"
	if !f.SingleCopy.Works {
		state = "no: " + f.SingleCopy.Reason
	}
	fmt.Fprintf(w, "Single copy between processes: %s\n", state)
	fmt.Fprintf(w, "\tptrace_scope: %s\n", f.SingleCopy.PtraceScope)
	if len(f.SharedMemory) > 0 {
		fmt.Fprintln(w, "Shared memory:")
	}
	for _, diagnostic := range f.SharedMemory {
		fmt.Fprintf(w, "\t%s: %s\n", diagnostic.Name, diagnostic.Value)
	}
}

// printVariables writes the environment variables as a table.
func printVariables(to io.Writer, variables []mx.Variable) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VARIABLE\tDEFAULT\tVALUE\tFROM\tMEANING")
	for _, v := range variables {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", v.Name, v.Default, v.Value, v.Source, v.Help)
	}
	return w.Flush()
}
