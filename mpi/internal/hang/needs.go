package hang

import "slices"

// blockers are the ranks that have to do something before a need can end, and whether
// one of them is enough. None: it is not known, or the need is about to end.
type blockers struct {
	ranks       []int
	oneIsEnough bool
}

func (j *job) findBlockers() {
	j.blocks = make([][][]blockers, len(j.ranks))
	for r := range j.ranks {
		for _, w := range j.ranks[r].Waits {
			all := make([]blockers, len(w.Needs))
			for i, n := range w.Needs {
				all[i] = blockers{j.blockersOf(r, n), n.Kind == Recv && n.Peer == Any}
			}
			j.blocks[r] = append(j.blocks[r], all)
		}
	}
}

func (j *job) blockersOf(r int, n Need) []int {
	switch n.Kind {
	case Recv:
		if n.Peer == Any {
			return j.anybody(r, n)
		}
		if j.has(n.Peer) && !j.comes(n.Peer, r, n) {
			return []int{n.Peer}
		}
	case Send:
		if j.has(n.Peer) && !j.taken(n.Peer, r, n) {
			return []int{n.Peer}
		}
	case Collective:
		return j.missing(collective{n.Comm, n.Tag})
	case Lock:
		return j.inOrder(j.locks[lockOf{n.Comm, n.Peer}], r)
	}
	return nil
}

// inOrder returns those of ranks that the job has, in order and once, without one.
func (j *job) inOrder(ranks []int, without int) []int {
	ranks = slices.DeleteFunc(slices.Clone(ranks), func(r int) bool { return !j.has(r) || r == without })
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// anybody returns those who may send what rank r receives from anybody. None if it is
// on its way.
func (j *job) anybody(r int, n Need) []int {
	members := j.inOrder(j.comms[n.Comm].Members, r)
	if slices.ContainsFunc(members, func(m int) bool { return j.comes(m, r, n) }) {
		return nil
	}
	return members
}

// comes reports whether rank from has a send under way that the receive n of rank to
// matches.
func (j *job) comes(from, to int, n Need) bool {
	return j.some(from, func(s Need) bool { return s.Kind == Send && s.Peer == to && fits(s, n, from) })
}

// taken reports whether rank to has a receive posted that matches the send n of rank
// from.
func (j *job) taken(to, from int, n Need) bool {
	return j.some(to, func(r Need) bool { return r.Kind == Recv && fits(n, r, from) })
}

func fits(send, recv Need, from int) bool {
	return send.Comm == recv.Comm && (recv.Tag == Any || recv.Tag == send.Tag) && (recv.Peer == Any || recv.Peer == from)
}

// some reports whether a request of rank r, waited for or not, is such a one.
func (j *job) some(r int, is func(Need) bool) bool {
	return slices.ContainsFunc(j.ranks[r].Pending, is) ||
		slices.ContainsFunc(j.ranks[r].Waits, func(w Wait) bool { return slices.ContainsFunc(w.Needs, is) })
}

// missing returns the members of the communicator that have not come to a collective.
func (j *job) missing(c collective) []int {
	absent, known := j.absent[c]
	if !known {
		absent = slices.DeleteFunc(j.inOrder(j.comms[c.comm].Members, Any), func(m int) bool { return j.reached(m, c) })
		j.absent[c] = absent
	}
	return absent
}

func (j *job) reached(r int, c collective) bool {
	at := slices.ContainsFunc(j.ranks[r].Reached, func(s Stand) bool { return s.Comm == c.comm && s.Number >= c.number })
	return at || j.some(r, func(n Need) bool { return n.Kind == Collective && n.Comm == c.comm && n.Tag >= c.number })
}
