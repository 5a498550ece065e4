package mpi

import (
	"hash/fnv"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// cores is where a rank may run: on how many cores of its host, and a number that is the same
// for ranks that may run on the same ones.
type cores struct {
	count uint16
	mask  uint32
}

// ownCores returns the cores of this process.
func ownCores(inProcess bool) cores {
	c := cores{count: uint16(min(runtime.NumCPU(), 1<<16-1))}
	if inProcess {
		c.count = uint16(min(runtime.GOMAXPROCS(0), 1<<16-1)) // the ranks are goroutines
		return c
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return c
	}
	for line := range strings.Lines(string(status)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			c.take(strings.TrimSpace(list))
		}
	}
	return c
}

// take reads a list such as 0,4-6.
func (c *cores) take(list string) {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return
		}
		to, err := strconv.ParseUint(last, 10, 16)
		if err != nil || to < from {
			return
		}
		n += int(to - from + 1)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(list))
	c.count, c.mask = uint16(min(n, 1<<16-1)), h.Sum32()
}

// turns returns how many ranks share a core on this rank's host.
func (j *job) turns(rank int) int {
	var here []int32
	for r := range j.businessCards {
		if j.businessCards[r].host == j.businessCards[rank].host {
			here = append(here, int32(r))
		}
	}
	return j.crowd(here)
}

// takeTurns gives the Go scheduler of a process whose rank takes turns on a core a single processor, unless the
// environment says how many. With more it hands the rank from thread to thread, and so from core to core, each time that
// it preempts it, and the ranks are never where the system has balanced them.
func takeTurns() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// crowd returns how many of some ranks share a core, on the host where most do. It is the same
// at all ranks. Ranks that are bound to different cores have all of those.
func (j *job) crowd(world []int32) int {
	type population struct {
		ranks, cores int
		masks        []uint32
	}
	hosts := map[string]*population{}
	for _, rank := range world {
		k := &j.businessCards[rank]
		p := hosts[k.host]
		if p == nil {
			p = &population{}
			hosts[k.host] = p
		}
		p.ranks++
		if !slices.Contains(p.masks, k.cores.mask) {
			p.masks = append(p.masks, k.cores.mask)
			p.cores += int(k.cores.count)
		}
	}
	most := 1
	for _, p := range hosts {
		most = max(most, (p.ranks+p.cores-1)/max(1, p.cores))
	}
	return most
}
