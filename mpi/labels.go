package mpi

import (
	"strconv"

	"gomx/internal/labels"
)

// labels are those of a goroutine that the job has for itself, for profiles. Which rank it serves is known unless it serves all of a
// process.
func (j *job) labels(duty string) labels.Labels {
	if j.launch == nil {
		return labels.For(duty)
	}
	return labels.For(duty, rankLabel, strconv.Itoa(j.launch.Rank()))
}

// labels are those of a goroutine that works for the rank alone.
func (s *seat) labels(duty string) labels.Labels {
	return labels.For(duty, rankLabel, strconv.Itoa(s.rank))
}

const rankLabel = "rank"
