package hang

import "slices"

// guess is what is taken for granted, though nobody knows it.
type guess struct {
	nobodySends bool // to a receive from anybody, but for the members of its communicator that are not stuck
	noneEnds    bool // of the contexts
}

// stuck returns which ranks can't go on whatever happens, but for what is guessed.
//
// It starts from all that wait, and takes out whoever may be freed by somebody outside,
// until nobody is left to take out.
func (j *job) stuck(g guess) []bool {
	in := make([]bool, len(j.ranks))
	for r := range in {
		in[r] = j.waits(r)
	}
	for changed := true; changed; {
		changed = false
		for i := range 2 * len(in) { // there and back: chains mostly run along the ranks
			r := min(i, 2*len(in)-1-i)
			if in[r] && !j.held(r, in, g) {
				in[r], changed = false, true
			}
		}
	}
	return in
}

// held reports whether all waits of rank r are stuck if the ranks in are.
func (j *job) held(r int, in []bool, g guess) bool {
	for i := range j.ranks[r].Waits {
		if !j.heldWait(r, i, in, g) {
			return false
		}
	}
	return true
}

func (j *job) heldWait(r, i int, in []bool, g guess) bool {
	w, held := &j.ranks[r].Waits[i], 0
	if w.Ends && !g.noneEnds {
		return false
	}
	for k, n := range w.Needs {
		if (g.nobodySends || n.Kind != Recv || n.Peer != Any) && j.heldNeed(j.blocks[r][i][k], in) {
			held++
		}
	}
	if w.Any {
		return held > 0 && held == len(w.Needs)
	}
	return held > 0
}

func (j *job) heldNeed(b blockers, in []bool) bool {
	hopeless := func(q int) bool { return in[q] || j.gone(q) }
	if b.oneIsEnough {
		return len(b.ranks) > 0 && !slices.ContainsFunc(b.ranks, func(q int) bool { return !hopeless(q) })
	}
	return slices.ContainsFunc(b.ranks, hopeless)
}

// edge is why a rank waits for another.
type edge struct {
	to   int
	call string
	need Need
}

// edges returns whom rank r waits for, in order and each once.
func (j *job) edges(r int) (out []edge) {
	if !j.waits(r) {
		return nil
	}
	seen := map[int]bool{}
	for i, w := range j.ranks[r].Waits {
		for k, n := range w.Needs {
			for _, q := range j.blocks[r][i][k].ranks {
				if !seen[q] {
					seen[q] = true
					out = append(out, edge{q, w.Call, n})
				}
			}
		}
	}
	return out
}
