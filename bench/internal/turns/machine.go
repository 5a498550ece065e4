package turns

import (
	"slices"
	"strings"

	"gomx/bench/machine"
)

// Origin says where the figures come from: the machine, the libraries and the day.
func (t *Table) Origin() string {
	var libraries []string
	for _, l := range t.Lines {
		for _, c := range l.Cells {
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

// Medium is what messages have travelled over, in sentences.
func (t *Table) Medium() string { return mediumName(t.Over) }

// mediumName is a medium in sentences.
func mediumName(over string) string {
	switch over {
	case TCP:
		return "TCP on the loopback interface"
	case RDMA:
		return "RDMA"
	}
	return "shared memory"
}
