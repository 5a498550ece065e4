package hang

import (
	"fmt"
	"slices"
	"strings"
)

// Report is what a snapshot says. All of it can be marshalled as JSON.
type Report struct {
	Snapshot   Snapshot   `json:"snapshot"`
	Groups     []Group    `json:"groups"`
	Cycles     []Cycle    `json:"cycles,omitempty"`
	Mismatches []Mismatch `json:"mismatches,omitempty"`
	Causes     []Cause    `json:"causes,omitempty"`
	Stuck      []int      `json:"stuck,omitempty"` // ranks that can't go on, for certain

	job *job
}

// Analyze finds out what a snapshot says. The same ranks in another order say the
// same.
func Analyze(s Snapshot) *Report {
	j := order(s)
	v := j.judge()
	r := &Report{
		Groups:     j.groups(),
		Cycles:     j.cycles(v),
		Mismatches: j.mismatches(),
		Causes:     j.causes(v.possible),
		job:        j,
	}
	r.Snapshot = Snapshot{s.Size, j.ranks, s.Comms, s.Locks}
	for rank, in := range v.certain {
		if in {
			r.Stuck = append(r.Stuck, rank)
		}
	}
	return r
}

// Certain reports whether the job, or a part of it, can't go on whatever happens: ranks
// wait for each other in a cycle, or for ranks that are gone, or are in different
// collectives where they should be in the same. What a context may end can go on.
func (r *Report) Certain() bool {
	return len(r.Stuck) > 0 || slices.ContainsFunc(r.Mismatches, func(m Mismatch) bool { return m.Certain })
}

// State says what the report says, but for what differs from one moment to the next.
func (r *Report) State() string {
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%s: %s\n", ranksOf(g.Ranks), g.What)
	}
	return b.String() + r.Verdict()
}
