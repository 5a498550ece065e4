package hang

import (
	"cmp"
	"slices"
)

// Group is ranks that wait for the same, or that don't wait.
type Group struct {
	What  string `json:"what"`
	Ranks []int  `json:"ranks"`
}

// groups puts ranks together that are in the same call, with the same tag in the same
// communicator. The largest group comes first.
func (j *job) groups() (all []Group) {
	at := map[string]int{}
	for r := range j.ranks {
		what := j.place(r)
		i, known := at[what]
		if !known {
			i = len(all)
			at[what] = i
			all = append(all, Group{What: what})
		}
		all[i].Ranks = append(all[i].Ranks, r)
	}
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Compare(len(b.Ranks), len(a.Ranks)) })
	return all
}

// place says where a rank stands, in words that are the same for ranks that stand at
// the same place. A rank with several waits stands at the oldest.
func (j *job) place(r int) string {
	if !j.waits(r) {
		if j.ranks[r].State == Waits {
			return string(NoCall)
		}
		return string(j.ranks[r].State)
	}
	return j.wait(oldest(j.ranks[r].Waits), false)
}

// together returns the collective in which all ranks of a communicator wait, or nil.
func (j *job) together() *Need {
	in := map[collective]map[int]bool{}
	for r := range j.ranks {
		for _, w := range j.ranks[r].Waits {
			for i := range w.Needs {
				n := &w.Needs[i]
				if n.Kind != Collective {
					continue
				}
				at := collective{n.Comm, n.Tag}
				if in[at] == nil {
					in[at] = map[int]bool{}
				}
				if in[at][r] = true; len(in[at]) > 1 && len(in[at]) == len(j.comms[n.Comm].Members) {
					return n
				}
			}
		}
	}
	return nil
}

func oldest(waits []Wait) Wait {
	return slices.MaxFunc(waits, func(a, b Wait) int { return cmp.Compare(a.Age, b.Age) })
}

// Cause is a rank that is not stuck itself, and that stuck ones wait for.
type Cause struct {
	Rank    int    `json:"rank"`
	State   State  `json:"state"`
	Victims int    `json:"victims"` // ranks that wait for it, themselves or through others
	Example Step   `json:"example"` // one that waits for it itself
	Missed  string `json:"missed,omitempty"`
	Left    bool   `json:"left,omitempty"` // it waits in an earlier collective, which those have left that wait for it
}

// causes returns the ranks that others wait for and that don't wait, or only for what
// may still come: those with most victims first.
func (j *job) causes(in []bool) (all []Cause) {
	waiters := make([][]Step, len(j.ranks))
	for r := range j.ranks {
		for _, e := range j.edges(r) {
			waiters[e.to] = append(waiters[e.to], Step{r, e.to, e.call, e.need})
		}
	}
	for r := range j.ranks {
		if len(waiters[r]) == 0 || in[r] || len(j.edges(r)) > 0 {
			continue
		}
		c := Cause{Rank: r, State: j.ranks[r].State, Victims: reach(waiters, r), Example: waiters[r][0]}
		if n := c.Example.Need; n.Kind == Collective {
			c.Missed, c.Left = j.need(n, true), j.waitsBefore(r, n)
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Cause) int { return cmp.Compare(b.Victims, a.Victims) })
	return all
}

// waitsBefore reports whether a rank waits in a collective before another one of the same communicator.
func (j *job) waitsBefore(r int, later Need) bool {
	return slices.ContainsFunc(j.ranks[r].Waits, func(w Wait) bool {
		return slices.ContainsFunc(w.Needs, func(n Need) bool { return n.Kind == Collective && n.Comm == later.Comm && n.Tag < later.Tag })
	})
}

// reach counts the ranks that wait for rank r, themselves or through others.
func reach(waiters [][]Step, r int) int {
	seen := map[int]bool{r: true}
	for queue := []int{r}; len(queue) > 0; queue = queue[1:] {
		for _, s := range waiters[queue[0]] {
			if !seen[s.Rank] {
				seen[s.Rank] = true
				queue = append(queue, s.Rank)
			}
		}
	}
	return len(seen) - 1
}

// Mismatch is a collective that ranks have come to with different functions.
type Mismatch struct {
	Comm    string  `json:"comm"`
	Number  int     `json:"number"`
	Calls   []Group `json:"calls"`   // the function, and the ranks that are in it
	Certain bool    `json:"certain"` // no context may end one of the calls
}

// mismatches finds collectives of the same communicator and number under different
// names.
func (j *job) mismatches() (all []Mismatch) {
	at := map[collective]int{}
	for r := range j.ranks {
		for _, w := range j.ranks[r].Waits {
			for _, n := range w.Needs {
				if n.Kind != Collective {
					continue
				}
				k := collective{n.Comm, n.Tag}
				i, known := at[k]
				if !known {
					i = len(all)
					at[k] = i
					all = append(all, Mismatch{Comm: j.name(n.Comm), Number: n.Tag, Certain: true})
				}
				all[i].add(n.Op, r)
				all[i].Certain = all[i].Certain && !w.Ends
			}
		}
	}
	return slices.DeleteFunc(all, func(m Mismatch) bool { return len(m.Calls) < 2 })
}

func (m *Mismatch) add(op string, r int) {
	i := slices.IndexFunc(m.Calls, func(g Group) bool { return g.What == op })
	if i < 0 {
		i = len(m.Calls)
		m.Calls = append(m.Calls, Group{What: op})
	}
	if ranks := m.Calls[i].Ranks; len(ranks) == 0 || ranks[len(ranks)-1] != r {
		m.Calls[i].Ranks = append(ranks, r)
	}
}
