// Package machine says where and when figures were measured. Its function may be called by any number of goroutines.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Origin names the processor, the system, the version of Go, whatever else a measurement depends on, and the day.
func Origin(more ...string) string {
	parts := []string{fmt.Sprintf("%s, %d cores", processor(), runtime.NumCPU()), system(), runtime.Version()}
	return strings.Join(append(append(parts, more...), time.Now().Format(time.DateOnly)), "; ")
}

func processor() string {
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(cpuinfo)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func system() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return "Linux " + strings.TrimSpace(string(release))
}
