package live

import (
	"os"
	"slices"

	"gomx/mpi/internal/hang"
)

// What is believed of the jobs of a user who is not the one that asks, which only root is told of: few bytes may claim many ranks, and each call
// that blocks is compared with each rank.
const (
	mostForeignRanks    = 1 << 12 // of all jobs of the user together
	mostForeignNeeds    = 1 << 13 // requests of all calls that block, and those beside
	mostForeignBlockers = 1 << 19 // requests times ranks: whom they may wait for
)

// belief is what has been believed of a user so far.
type belief struct{ ranks, needs, blockers int }

// believer keeps the bounds, user by user.
type believer map[int]*belief

// takes reports whether a part of a job is within the bounds of its user, and counts it if so. ranks is the size of the job if it is a new one, or 0.
func (b believer) takes(user, ranks int, p *hang.Part) bool {
	if user == os.Geteuid() {
		return true
	}
	needs := 0
	for i := range p.Snapshot.Ranks {
		r := &p.Snapshot.Ranks[i]
		needs += len(r.Pending) + len(r.Reached)
		for k := range r.Waits {
			needs += len(r.Waits[k].Needs) + 1
		}
	}
	u := b[user]
	if u == nil {
		u = &belief{}
		b[user] = u
	}
	now := belief{u.ranks + ranks, u.needs + needs, u.blockers + needs*p.Size}
	if now.ranks > mostForeignRanks || now.needs > mostForeignNeeds || now.blockers > mostForeignBlockers ||
		slices.ContainsFunc(p.Snapshot.Comms, func(c hang.Comm) bool { return len(c.Members) > p.Size }) ||
		slices.ContainsFunc(p.Snapshot.Locks, func(l hang.Held) bool { return len(l.Holders) > p.Size }) {
		return false
	}
	*u = now
	return true
}
