package proc

import (
	"os"
	"strings"
	"testing"
)

// Resources is what a process holds of the system that must not pile up.
type Resources struct {
	Descriptors int
	Mappings    int // of shared segments
}

// Held counts the resources of this process.
func Held(t testing.TB) (r Resources) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here:", err)
	}
	r.Descriptors = len(list)
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("no /proc here:", err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "memfd:gomx") && !strings.Contains(line, "gomx-arena") {
			r.Mappings++
		}
	}
	return r
}
