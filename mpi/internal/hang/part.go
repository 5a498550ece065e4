package hang

import "slices"

// Part is what one process says of a job: its ranks, and where they are.
type Part struct {
	Job      string         `json:"job"` // the same at all processes of the job, and no other job's
	Size     int            `json:"size"`
	Ends     map[int]string `json:"ends"` // the endpoints of the ranks in the process
	Snapshot Snapshot       `json:"snapshot"`
}

// Join makes one snapshot of the parts of a job. Of ranks that no part has it says nothing.
func Join(parts []Part) (s Snapshot) {
	for _, p := range parts {
		s.Size = max(s.Size, p.Size)
		s.Ranks = append(s.Ranks, p.Snapshot.Ranks...)
		s.Comms = append(s.Comms, p.Snapshot.Comms...)
		s.Locks = append(s.Locks, p.Snapshot.Locks...)
	}
	return s
}

// Steps returns who waits for whom, by the rank that waits.
func (r *Report) Steps() (all []Step) {
	for rank := range r.job.ranks {
		for _, e := range r.job.edges(rank) {
			all = append(all, Step{rank, e.to, e.call, e.need})
		}
	}
	return all
}

// Lines describes what a rank does, as the report's text has it.
func (r *Report) Lines(rank int) []string { return r.job.lines(rank) }

// Describe describes why a rank waits, without its peer.
func (r *Report) Describe(s Step) string { return r.job.reason(s) }

// Circular reports whether a step is part of a cycle, or leads to a rank that is gone.
func (r *Report) Circular(s Step) bool {
	return slices.ContainsFunc(r.Cycles, func(c Cycle) bool {
		return slices.ContainsFunc(c.Steps, func(o Step) bool { return o.Rank == s.Rank && o.Next == s.Next })
	})
}

// Text describes a group in a line.
func (g Group) Text() string { return ranksOf(g.Ranks) + ": " + g.What }
