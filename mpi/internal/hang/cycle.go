package hang

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
	Certain bool   `json:"certain"` // no receive from anybody is part of why its ranks are stuck
	Gone    bool   `json:"gone"`    // the last step leads to a rank that has died or finalized
	Steps   []Step `json:"steps"`
}

// cycles names a shortest cycle through the stuck ranks, from the lowest rank that has
// one, then others that share no rank with it, then chains that end at ranks that
// are gone.
func (j *job) cycles(in []bool, certain []bool) (all []Cycle) {
	used := make([]bool, len(in))
	graph := make([][]edge, len(in))
	for r := range in {
		if in[r] {
			graph[r] = j.edges(r)
		}
	}
	for r := range in {
		if in[r] && !used[r] {
			if steps := shortest(graph, in, used, r); steps != nil {
				all = append(all, j.cycle(steps, certain, false))
				mark(used, steps)
			}
		}
	}
	for r := range in {
		for _, e := range graph[r] {
			if in[r] && !used[r] && j.gone(e.to) {
				step := []Step{{r, e.to, e.call, e.need}}
				all = append(all, j.cycle(step, certain, true))
				mark(used, step)
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

func (j *job) cycle(steps []Step, certain []bool, gone bool) Cycle {
	c := Cycle{Certain: true, Gone: gone, Steps: steps}
	for _, s := range steps {
		c.Certain = c.Certain && certain[s.Rank]
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
