package tracefile

import (
	"os"
	"strings"
	"time"
)

// clock is where the times of events come from.
type clock struct {
	read func() int64 // ticks
	name string       // clocks of the same name show the same
}

// started is as early as this process can say. The monotonic part of it alone is used.
var started = time.Now()

// nanoseconds is a monotonic clock of this process.
func nanoseconds() int64 { return int64(time.Since(started)) }

// newClock chooses a clock. The counter of the processor is read in a third of the time that the system's clock takes;
// it is trusted where the kernel makes its own clock of it: then it is the same on all cores, and never changes its pace.
func newClock() clock {
	host := hostOf()
	if hasTicks && firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource") == "tsc" {
		return clock{ticks, "tsc of " + host}
	}
	offset, name := monotonic()
	return clock{func() int64 { return offset + nanoseconds() }, name + " of " + host}
}

// hostOf names this boot of this machine.
func hostOf() string {
	name, _ := os.Hostname()
	if boot := firstLine("/proc/sys/kernel/random/boot_id"); boot != "" {
		return boot // containers have names of their own, and one clock
	}
	return name
}

// firstLine returns the first line of a file, or nothing.
func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}
