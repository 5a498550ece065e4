// Package figure takes time and processor time in the programs of bench/ordinary, and prints them as
// the lines that bench/compare reads. Each process of a run prints one; what the run is about is
// in that of the process that measures.
package figure

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"gomx/bench/usage"
)

// Line is what a process prints.
type Line struct {
	Value float64 `json:"value"`  // in the unit of the program
	Ops   int     `json:"ops"`    // how many operations were measured; 0 in the line of a process that measures nothing
	CPUUs float64 `json:"cpu_us"` // processor time of this process meanwhile

	Library string `json:"library,omitempty"` // what an MPI says of itself
}

// Meter is the beginning of a measurement.
type Meter struct {
	at   time.Time
	used time.Duration
}

// Begin takes the time and this process's processor time.
func Begin() Meter { return Meter{time.Now(), used()} }

// Each prints microseconds for each of so many operations since the beginning.
func (m Meter) Each(ops int) {
	m.Print(time.Since(m.at).Seconds()*1e6/float64(ops), ops)
}

// Share is the processor time since the beginning, in percent of one processor.
func (m Meter) Share() float64 {
	return 100 * (used() - m.used).Seconds() / time.Since(m.at).Seconds()
}

// Print prints a value that the program has measured in its own way.
func (m Meter) Print(value float64, ops int) {
	line, err := json.Marshal(Line{Value: value, Ops: ops, CPUUs: float64((used() - m.used).Nanoseconds()) / 1e3})
	if err != nil {
		Fail(err)
	}
	fmt.Printf("%s\n", line)
}

// Aside prints the processor time of a process that measures nothing else.
func (m Meter) Aside() { m.Print(0, 0) }

// used is 0 where the system does not tell it.
func used() time.Duration {
	d, _ := usage.Self()
	return d
}

// ResidentMiB is the resident memory of this process, as the line VmRSS or VmHWM (the most there was) of
// its status has it.
func ResidentMiB(line string) (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), line+":")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseFloat(kib, 64)
	return n / (1 << 10), err
}

// Fail ends the program if there is an error.
func Fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
