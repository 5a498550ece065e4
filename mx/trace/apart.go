package trace

import (
	"slices"

	"gomx/endpoint"
)

// link is what both sides of a session say of it, when they speak of what went one way.
type link struct {
	from, to place
	session  uint32
}

// separate finds endpoints that have exchanged nothing: of several, Apart has the groups. Sessions are compared, and not messages, because the
// files of both sides need not go back to the same ones. Ranks of a job belong together, and so do endpoints of a process; one without a message
// is of no group.
func (t *Trace) separate() {
	if t.Size > 0 {
		return
	}
	type process struct {
		host string
		pid  int
	}
	group := make([]int, len(t.Ranks)) // the place of another one of the same group, or its own
	root := func(n int) int {
		for group[n] != n {
			n = group[n]
		}
		return n
	}
	links, processes := map[link]int{}, map[process]int{}
	active := make([]bool, len(t.Ranks))
	for n, r := range t.Ranks {
		group[n] = n
		if other, known := processes[process{r.Host, r.PID}]; known {
			group[n] = root(other)
		} else {
			processes[process{r.Host, r.PID}] = n
		}
		var last link
		for i := range r.events {
			l, ok := r.linkOf(&r.events[i])
			if !ok || active[n] && l == last {
				continue
			}
			active[n], last = true, l
			if other, known := links[l]; known {
				group[root(other)] = root(n)
			} else {
				links[l] = n
			}
		}
	}
	members := map[int][]int{}
	for n := range t.Ranks {
		if active[n] {
			members[root(n)] = append(members[root(n)], n)
		}
	}
	if len(members) < 2 {
		return
	}
	for _, list := range members {
		t.Apart = append(t.Apart, list)
	}
	slices.SortFunc(t.Apart, func(a, b []int) int { return a[0] - b[0] })
}

// linkOf returns what the other side of an event would call its session. False: the event is not one that both sides have.
func (r *Rank) linkOf(ev *endpoint.Event) (link, bool) {
	own, peer := place{r.file.file.NIC, r.file.file.ID}, place{ev.NIC, ev.Endpoint}
	switch ev.Kind {
	case endpoint.EventSent, endpoint.EventOffered, endpoint.EventPut, endpoint.EventGet, endpoint.EventAtomic:
		return link{own, peer, ev.Session}, true
	case endpoint.EventUnexpected, endpoint.EventMatched, endpoint.EventPutServed, endpoint.EventGetServed, endpoint.EventAtomicServed:
		return link{peer, own, ev.Session}, true
	}
	return link{}, false
}

// Paths returns the files of a group of Apart.
func (t *Trace) Paths(group []int) (files []string) {
	for _, n := range group {
		files = append(files, t.Ranks[n].Path)
	}
	return files
}
