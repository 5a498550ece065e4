package mpi

import "gomx/mpi/internal/coll"

// Algorithm returns the algorithm that a collective on the communicator uses. kind is "allreduce", "bcast" and so on;
// bytes is the size of a rank's contribution. It returns "" if there is no such collective, or no communicator.
// docs/collectives.md lists the algorithms.
func (c *Comm) Algorithm(kind string, bytes int) string {
	if c.none() {
		return ""
	}
	for _, k := range coll.Kinds() {
		if k.String() == kind {
			return c.choose(k, bytes, true, c.overrides()).String()
		}
	}
	return ""
}

// Algorithms returns the kinds of collectives, and the algorithms that there are for each.
func Algorithms() (kinds []string, algorithms [][]string) {
	for _, k := range coll.Kinds() {
		var words []string
		for _, a := range coll.Offered(k) {
			words = append(words, a.String())
		}
		kinds, algorithms = append(kinds, k.String()), append(algorithms, words)
	}
	return kinds, algorithms
}

// SetAlgorithm sets the algorithm of a kind of collective on the communicator, from the next call on; "automatic"
// leaves the choice to the library again. Collectives that were started before keep theirs. All ranks must call it,
// between the same collectives. An algorithm that is not possible, such as recursive doubling of an Allgather among 6
// ranks, is ignored. Errors: ErrComm, ErrArg.
func (c *Comm) SetAlgorithm(kind, algorithm string) error {
	if err := c.usable("SetAlgorithm"); err != nil {
		return err
	}
	set := c.overrides().Copy()
	if err := set.Set(kind, algorithm); err != nil {
		return c.fail("SetAlgorithm", ErrArg, "%w", err)
	}
	c.state.algorithms.Store(set)
	return nil
}

func (c *Comm) overrides() *coll.Overrides {
	if set := c.state.algorithms.Load(); set != nil {
		return set
	}
	return c.seat.job.set.algorithms
}

// choose returns the algorithm for a collective.
func (c *Comm) choose(k coll.Kind, bytes int, alike bool, set *coll.Overrides) coll.Algorithm {
	return coll.Choose(k, bytes, coll.Shape{Ranks: len(c.peers), Crowd: c.crowd()}, alike, set)
}

// chosen is an algorithm, and what it was chosen for. Programs call the same collectives again and again.
type chosen struct {
	known     bool // there was one
	set       *coll.Overrides
	bytes     int
	alike     bool
	algorithm coll.Algorithm
	choice    int // both kind and algorithm
}

// choose returns the algorithm for the collective, as it was set when that was called.
func (n *net) choose(k coll.Kind, bytes int, alike bool) coll.Algorithm {
	last := &n.choices[k]
	if !last.known || last.set != n.set || last.bytes != bytes || last.alike != alike {
		a := n.c.choose(k, bytes, alike, n.set)
		*last = chosen{true, n.set, bytes, alike, a, coll.Choice(k, a)}
	}
	n.c.state.collectives.count(last.choice, 1)
	if now := n.c.seat.ep.TraceNow(); now != 0 {
		n.traced = traced{now, last.choice, bytes}
	}
	return last.algorithm
}

// crowd returns how many ranks of the communicator share a core.
func (c *Comm) crowd() int {
	if crowd := c.state.crowd.Load(); crowd != 0 {
		return int(crowd)
	}
	crowd := c.seat.job.crowd(c.world)
	c.state.crowd.Store(int32(crowd))
	return crowd
}
