// Package live says what the ranks of running jobs wait for, from what their processes answer to tools: mx/live reads
// that. It asks nobody itself, and finds no more of a job than the readings have, which are those of one host.
package live

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"gomx/mpi/internal/hang"
	"gomx/mx"
)

// Report is what the ranks of a job wait for, as in a hang report.
type Report = hang.Report

// Step is a rank that waits for another, and why.
type Step = hang.Step

// Job is a parallel program, or the part of it that was found.
type Job struct {
	ID      string // the same as long as the job lives, and no other job's
	Size    int
	Command string
	Ranks   []Rank // those that were found, the lowest first
	Report  *Report
}

// Rank is where a rank lives.
type Rank struct {
	Rank     int    `json:"rank"`
	PID      int    `json:"pid"`
	Endpoint string `json:"endpoint"` // "host:board/endpoint"
}

// mostRanks bounds the size of a job: what a process says of it is not believed beyond.
const mostRanks = 1 << 14

// Jobs returns the jobs of processes that were read with what they wait for, by the process of their lowest rank. Ranks
// that nobody has heard of are in the report as such that do not answer. What makes no sense is left out, and so is what processes of another
// user say beyond 4096 ranks, all jobs of that user together, or beyond 8192 requests.
func Jobs(readings []*mx.LiveReading) []Job {
	parts := map[string][]hang.Part{}
	jobs := map[string]*Job{}
	believed := believer{}
	for _, r := range readings {
		for _, text := range r.Waits {
			p := hang.Part{}
			if json.Unmarshal(text, &p) != nil || p.Job == "" || p.Size < 1 || p.Size > mostRanks {
				continue
			}
			p.Snapshot.Ranks = slices.DeleteFunc(p.Snapshot.Ranks, func(k hang.Rank) bool { return k.Rank < 0 || k.Rank >= p.Size })
			p.Snapshot.Size = 0 // Join takes that of the part
			j, added := jobs[p.Job], 0
			if j == nil {
				added = p.Size
			}
			if j != nil && p.Size != j.Size || !believed.takes(r.User, added, &p) {
				continue
			}
			if j == nil {
				j = &Job{ID: p.Job, Size: p.Size, Command: r.Command}
				jobs[p.Job] = j
			}
			parts[p.Job] = append(parts[p.Job], p)
			for rank, end := range p.Ends {
				if rank < 0 || rank >= p.Size {
					continue
				}
				j.Ranks = append(j.Ranks, Rank{rank, r.PID, end})
			}
		}
	}
	for id, j := range jobs {
		slices.SortFunc(j.Ranks, func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
		j.Report = hang.Analyze(hang.Join(parts[id]))
	}
	return slices.SortedFunc(func(yield func(Job) bool) {
		for j := range maps.Values(jobs) {
			if !yield(*j) {
				return
			}
		}
	}, func(a, b Job) int { return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.ID, b.ID)) })
}

func (j *Job) first() int {
	if len(j.Ranks) == 0 {
		return 0
	}
	return j.Ranks[0].PID
}
