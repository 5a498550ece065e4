package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is what a comparison found.
type report struct {
	sheets   []*sheet
	rounds   int
	cores    pin
	versions map[string]string // of subjects that told theirs
	when     time.Time
	ways     []string // how peers were made to use a medium
}

// explain takes down how a peer is made to use a medium, if it takes making.
func (r *report) explain(p peer, over medium) {
	how := p.over(over)
	if how == "" {
		return
	}
	if line := fmt.Sprintf("%s over %v: %s.", p.name(), over, how); !slices.Contains(r.ways, line) {
		r.ways = append(r.ways, line)
	}
}

func (r *report) sheet(over medium, quantity string) *sheet {
	i := slices.IndexFunc(r.sheets, func(s *sheet) bool { return s.medium == over && s.quantity == quantity })
	if i < 0 {
		r.sheets = append(r.sheets, newSheet(over, quantity))
		i = len(r.sheets) - 1
	}
	return r.sheets[i]
}

// threads says what all subjects have in common.
const threads = "one thread uses an endpoint, as after MPI_Init, but for " + anyThreadName

// heading says what the figures are and where they come from.
func (r *report) heading() string {
	parts := []string{processor(), fmt.Sprintf("%d cores", runtime.NumCPU()), system(), runtime.Version()}
	for _, name := range peerNames() {
		if version := r.versions[name]; version != "" {
			parts = append(parts, version)
		}
	}
	return fmt.Sprintf("Medians of %s in turn, processes pinned to cores %v; %s; %s; %s.",
		plural(r.rounds, "round"), r.cores, threads, strings.Join(parts, ", "), r.when.Format(time.DateOnly))
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

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
