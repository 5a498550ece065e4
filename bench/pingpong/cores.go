package pingpong

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"gomx/bench/pingpong/internal/affinity"
)

// TwoCores returns two cores that this process may use, which share no execution
// units if there are such, or none if there are not two.
func TwoCores() []int {
	cores, err := affinity.Allowed()
	if err != nil || len(cores) < 2 {
		return nil
	}
	first, others := cores[0], cores[1:]
	twins := siblings(first)
	if i := slices.IndexFunc(others, func(c int) bool { return !slices.Contains(twins, c) }); i >= 0 {
		return []int{first, others[i]}
	}
	return []int{first, others[0]}
}

// siblings returns the cores that are threads of the same processor core, as far
// as the system tells.
func siblings(core int) []int {
	text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", core))
	if err != nil {
		return nil
	}
	list, _ := parseCoreList(strings.TrimSpace(string(text)))
	return list
}

// parseCoreList reads lists such as 0,4-6.
func parseCoreList(text string) ([]int, error) {
	var cores []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 16)
		if err != nil {
			return nil, err
		}
		last, err := strconv.ParseUint(to, 10, 16)
		if err != nil {
			return nil, err
		}
		for c := first; c <= last; c++ {
			cores = append(cores, int(c))
		}
	}
	return cores, nil
}

// CheckCores returns an error unless the process may run on all these cores.
func CheckCores(cores []int) error {
	allowed, err := affinity.Allowed()
	if err != nil {
		return err
	}
	for _, c := range cores {
		if !slices.Contains(allowed, c) {
			return fmt.Errorf("core %d: this process may run on cores %v only", c, allowed)
		}
	}
	return nil
}

// PinProcess binds the process to a core, early in its life.
func PinProcess(core int) error {
	if err := affinity.PinProcess(core); err != nil {
		return err
	}
	runtime.SetDefaultGOMAXPROCS() // it counts the cores that are left
	return nil
}
