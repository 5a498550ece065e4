package main

import (
	"slices"
	"strings"

	"gomx/bench/machine"
)

// origin says where the figures come from: the machine, the libraries and the day.
func (t *table) origin() string {
	var libraries []string
	for _, l := range t.lines {
		for _, c := range l.cells {
			if c.library != "" && !slices.Contains(libraries, c.library) {
				libraries = append(libraries, c.library)
			}
		}
	}
	return machine.Origin(libraries...)
}

// libraryName shortens what an MPI says of itself to name, version and device.
func libraryName(long string) string {
	parts := strings.Split(long, ";")
	if rest, ok := strings.CutPrefix(parts[0], "MPICH Version:"); ok {
		name := "MPICH " + strings.TrimSpace(rest)
		for _, part := range parts[1:] {
			if device, ok := strings.CutPrefix(part, "MPICH Device:"); ok {
				name += " (" + strings.TrimSpace(device) + ")"
			}
		}
		return name
	}
	name, _, _ := strings.Cut(parts[0], ",")
	return strings.Replace(strings.TrimSpace(name), "Open MPI v", "Open MPI ", 1)
}

// mediumName is a medium in sentences.
func mediumName(over string) string {
	switch over {
	case tcp:
		return "TCP on the loopback interface"
	case rdma:
		return "RDMA"
	}
	return "shared memory"
}
