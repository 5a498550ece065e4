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

	job   *job
	found []int // Stuck, also if that is in doubt
}

// Silent returns the ranks that have not answered.
func (r *Report) Silent() (ranks []int) {
	for i := range r.Snapshot.Ranks {
		if rank := &r.Snapshot.Ranks[i]; rank.State == Silent {
			ranks = append(ranks, rank.Rank)
		}
	}
	return ranks
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
	r.found = r.Stuck
	return r
}

// inDoubt is what makes a cycle certain that was seen once.
const inDoubt = "these calls do not end in a moment"

// Settle compares a report that is certain with an earlier one, or with nil, and returns whether it stays so: the ranks that can't
// go on must be the same, in the same calls. Else these are only possibly stuck. The ranks say what they wait for one after
// the other, so that those which take turns, at a lock, may seem to wait for each other.
func (r *Report) Settle(earlier *Report) bool {
	if len(r.Stuck) == 0 || earlier != nil && r.sameStuck(earlier) {
		return true
	}
	r.Stuck = nil
	for i := range r.Cycles {
		if c := &r.Cycles[i]; c.Certain {
			c.Certain, c.If = false, inDoubt
		}
	}
	return false
}

// sameStuck reports whether the stuck ranks are the same in two reports, and in the same calls.
func (r *Report) sameStuck(earlier *Report) bool {
	if !slices.Equal(r.found, earlier.found) {
		return false
	}
	for _, rank := range r.found {
		if !slices.EqualFunc(r.Snapshot.Ranks[rank].Waits, earlier.Snapshot.Ranks[rank].Waits, func(v, w Wait) bool { return v.ID == w.ID }) {
			return false
		}
	}
	return true
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
