package turns

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// availableMemory is how many bytes programs may take on this machine, as far as the system says: shared memory is part of
// them. It is a large number where the system doesn't say.
func availableMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return math.MaxInt64
	}
	_, rest, found := strings.Cut(string(text), "\nMemAvailable:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kib, 10, 64)
	if !found || err != nil {
		return math.MaxInt64
	}
	return n << 10
}

// roughly is a number of bytes in the largest unit of which there is one.
func roughly(n int64) string {
	for _, unit := range []struct {
		shift int
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n >= 1<<unit.shift {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(int64(1)<<unit.shift), unit.name)
		}
	}
	return fmt.Sprint(n, " B")
}
