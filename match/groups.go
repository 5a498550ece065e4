package match

// groups holds receives by mask. The zero value is ready.
type groups struct {
	links  []link   // by receive id, shared by all groups
	posted []origin // by receive id

	all    []group
	order  []int32 // ids of all groups; the first live of them have receives
	live   int
	byMask Index // group ids, idle groups included
	recent int32 // the group posted to last

	number uint64 // of the last receive posted; it never wraps in practice
}

// origin is the order and the group in which a receive was posted.
type origin struct {
	number uint64
	group  int32
	stays  bool // Arrive leaves the receive posted
}

// group is the receives posted with one mask. An idle group, one without
// receives, keeps its mask and memory until another mask needs a group.
type group struct {
	mask   uint64
	chains chains
	len    int
	place  int32 // in groups.order
}

func (g *groups) post(id int32, value, mask uint64, stays bool) {
	at := g.recent
	if int(at) >= len(g.all) || g.all[at].mask != mask {
		at = g.of(mask)
		g.recent = at
	}
	if int(id) >= len(g.posted) {
		g.links = reach(g.links, id)
		g.posted = reach(g.posted, id)
	}
	to := &g.all[at]
	if to.len == 0 {
		g.wake(to)
	}
	to.len++
	g.number++
	g.posted[id] = origin{number: g.number, group: at, stays: stays}
	to.chains.push(g.links, value, id)
}

func (g *groups) arrive(incoming uint64) (int32, bool) {
	if g.live != 1 {
		return g.arriveAmong(incoming)
	}
	from := &g.all[g.order[0]]
	i := from.chains.find(incoming & from.mask)
	if i < 0 {
		return 0, false
	}
	return g.take(from, i), true
}

// arriveAmong looks at the front of the one queue in each group that matches
// and takes the oldest.
func (g *groups) arriveAmong(incoming uint64) (int32, bool) {
	var best *group
	var bestSlot int
	var bestNumber uint64
	for _, at := range g.order[:g.live] {
		from := &g.all[at]
		i := from.chains.find(incoming & from.mask)
		if i < 0 {
			continue
		}
		number := g.posted[from.chains.slots[i].head-1].number
		if best == nil || number < bestNumber {
			best, bestSlot, bestNumber = from, i, number
		}
	}
	if best == nil {
		return 0, false
	}
	return g.take(best, bestSlot), true
}

// posts reports whether any group has a receive for incoming.
func (g *groups) posts(incoming uint64) bool {
	for _, at := range g.order[:g.live] {
		from := &g.all[at]
		if from.chains.find(incoming&from.mask) >= 0 {
			return true
		}
	}
	return false
}

func (g *groups) take(from *group, slot int) int32 {
	if front := from.chains.slots[slot].head - 1; g.posted[front].stays {
		return front
	}
	id := from.chains.popAt(g.links, slot)
	g.left(from)
	return id
}

func (g *groups) cancel(id int32) bool {
	if uint(id) >= uint(len(g.links)) || g.links[id].prev == 0 {
		return false
	}
	from := &g.all[g.posted[id].group]
	from.chains.remove(g.links, id)
	g.left(from)
	return true
}

// of returns the group for mask. If no group has this mask, it is an idle group,
// probably the one that has been idle longest, and a new group if none is idle. So
// there are never more groups than masks that were in use at the same time.
func (g *groups) of(mask uint64) int32 {
	if at, ok := g.byMask.First(mask); ok {
		return at
	}
	var at int32
	if g.live < len(g.order) {
		at = g.order[len(g.order)-1]
		g.byMask.Remove(at)
		g.all[at].mask = mask
	} else {
		at = int32(len(g.all))
		g.all = append(g.all, group{mask: mask, place: at})
		g.order = append(g.order, at)
	}
	g.byMask.Add(mask, at)
	return at
}

func (g *groups) wake(to *group) {
	g.swap(to.place, int32(g.live))
	g.live++
}

func (g *groups) left(from *group) {
	from.len--
	if from.len == 0 {
		g.live--
		g.swap(from.place, int32(g.live))
	}
}

func (g *groups) swap(a, b int32) {
	at, bt := g.order[a], g.order[b]
	g.order[a], g.order[b] = bt, at
	g.all[bt].place = a
	g.all[at].place = b
}
