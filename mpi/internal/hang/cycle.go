package hang

import "slices"

// Step is one rank of a cycle, and why it waits for the next.
type Step struct {
	Rank int    `json:"rank"`
	Next int    `json:"next"`
	Call string `json:"call"`
	Need Need   `json:"need"`
}

// Cycle is a chain of ranks of which each waits for the next, and the last for the
// first, or for a rank that is gone.
type Cycle struct {
	Certain bool   `json:"certain"`      // neither a receive from anybody nor a context is part of why its ranks may go on
	If      string `json:"if,omitempty"` // what makes it certain if it is not, in words
	Gone    bool   `json:"gone"`         // the last step leads to a rank that has died or finalized
	Steps   []Step `json:"steps"`
}

// verdicts say which ranks are stuck, for certain and by guesses.
type verdicts struct{ certain, unlessSent, unlessEnded, possible []bool }

func (j *job) judge() verdicts {
	return verdicts{j.stuck(guess{}), j.stuck(guess{nobodySends: true}), j.stuck(guess{noneEnds: true}), j.stuck(guess{true, true})}
}

// cycles names those among the ranks that are stuck for certain, and then others, among those that possibly are.
func (j *job) cycles(v verdicts) (all []Cycle) {
	used := make([]bool, len(v.possible))
	graph := make([][]edge, len(v.possible))
	for r, in := range v.possible {
		if in {
			graph[r] = j.edges(r)
		}
	}
	for _, in := range [][]bool{v.certain, v.possible} {
		for _, steps := range circles(graph, in, used) {
			all = append(all, v.cycle(steps, false))
		}
		for _, step := range j.ends(graph, in, used) {
			all = append(all, v.cycle([]Step{step}, true))
		}
	}
	return all
}

// circles returns a shortest one through the ranks in, from the lowest rank that has
// one, then others that share no rank with it.
func circles(graph [][]edge, in, used []bool) (all [][]Step) {
	for r := range in {
		if in[r] && !used[r] {
			if steps := shortest(graph, in, used, r); steps != nil {
				all = append(all, steps)
				mark(used, steps)
			}
		}
	}
	return all
}

// ends returns which of the ranks in wait for some that are gone.
func (j *job) ends(graph [][]edge, in, used []bool) (all []Step) {
	for r := range in {
		for _, e := range graph[r] {
			if in[r] && !used[r] && j.gone(e.to) {
				step := Step{r, e.to, e.call, e.need}
				all = append(all, step)
				mark(used, []Step{step})
			}
		}
	}
	return all
}

func mark(used []bool, steps []Step) {
	for _, s := range steps {
		used[s.Rank] = true
	}
}

func (v verdicts) cycle(steps []Step, gone bool) Cycle {
	c := Cycle{Gone: gone, Steps: steps}
	all := func(in []bool) bool {
		return !slices.ContainsFunc(steps, func(s Step) bool { return !in[s.Rank] })
	}
	switch {
	case all(v.certain):
		c.Certain = true
	case all(v.unlessSent):
		c.If = "no other rank sends"
	case all(v.unlessEnded):
		c.If = "no context ends a call"
	default:
		c.If = "no other rank sends, and no context ends a call"
	}
	return c
}

// shortest returns a shortest way from rank start back to itself through the ranks in
// that are not used, or nil.
func shortest(graph [][]edge, in, used []bool, start int) []Step {
	from := map[int]Step{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		r := queue[0]
		for _, e := range graph[r] {
			step := Step{r, e.to, e.call, e.need}
			if e.to == start {
				return trace(from, step, start)
			}
			if _, seen := from[e.to]; in[e.to] && !used[e.to] && !seen {
				from[e.to] = step
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

// trace returns the steps from start that end with last.
func trace(from map[int]Step, last Step, start int) []Step {
	back := []Step{last}
	for r := last.Rank; r != start; {
		s := from[r]
		back = append(back, s)
		r = s.Rank
	}
	for i, k := 0, len(back)-1; i < k; i, k = i+1, k-1 {
		back[i], back[k] = back[k], back[i]
	}
	return back
}
