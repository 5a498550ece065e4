package match

// FindWhere finds the oldest posted receive that a message carrying incoming belongs to and that takes accepts, and changes nothing.
// FindWhere and ArriveWhere are for receives with a condition beside value and mask. They look at matching receives one by one, and
// take longer than Arrive.
func (t *Table) FindWhere(incoming uint64, takes func(id int32) bool) (id int32, ok bool) {
	if t.deep != 0 {
		if id, ok := t.groups.findWhere(incoming, takes); ok {
			return id, true
		}
	}
	for i := range uint(t.fewLen) {
		if r := t.at(i); Matches(incoming, r.value, r.mask) && takes(r.id) {
			return r.id, true
		}
	}
	return 0, false
}

// ArriveWhere does the same as Arrive, but finds only receives that takes accepts.
func (t *Table) ArriveWhere(incoming uint64, takes func(id int32) bool) (id int32, ok bool) {
	if Counting {
		t.arrivals++
	}
	if id, ok = t.FindWhere(incoming, takes); ok && !t.stays(id) {
		t.Cancel(id)
	}
	return id, ok
}

// stays reports whether PostMany has posted the receive, which must be in the table.
func (t *Table) stays(id int32) bool {
	for i := range uint(t.fewLen) {
		if r := t.at(i); r.id == id {
			return r.stays
		}
	}
	return t.groups.posted[id].stays
}

// findWhere searches the queue of each group that matches for a receive that takes accepts, and returns the oldest receive found.
func (g *groups) findWhere(incoming uint64, takes func(id int32) bool) (best int32, ok bool) {
	for _, at := range g.order[:g.live] {
		from := &g.all[at]
		i := from.chains.find(incoming & from.mask)
		if i < 0 {
			continue
		}
		for id := from.chains.slots[i].head - 1; id >= 0; id = g.links[id].next - 1 {
			if takes(id) {
				if !ok || g.posted[id].number < g.posted[best].number {
					best, ok = id, true
				}
				break
			}
		}
	}
	return best, ok
}
