package match

import "fmt"

// CheckIndex reports a broken invariant of x.
func CheckIndex(x *Index) error {
	n, err := x.chains.check(x.links)
	if err == nil && n != x.len {
		err = fmt.Errorf("index holds %d ids but counts %d", n, x.len)
	}
	return err
}

// CheckTable reports a broken invariant of t.
func CheckTable(t *Table) error {
	g, total, live := &t.groups, t.fewLen, 0
	for i := range g.all {
		at := &g.all[i]
		n, err := at.chains.check(g.links)
		if err != nil {
			return fmt.Errorf("mask %#x: %w", at.mask, err)
		}
		if n != at.len || g.order[at.place] != int32(i) || (n > 0) != (int(at.place) < g.live) {
			return fmt.Errorf("mask %#x: %d receives, counted %d, place %d of %d live", at.mask, n, at.len, at.place, g.live)
		}
		if n > 0 {
			live++
		}
		if id, ok := g.byMask.First(at.mask); !ok || id != int32(i) {
			return fmt.Errorf("mask %#x leads to group %d, %v instead of %d", at.mask, id, ok, i)
		}
		total += n
	}
	if total != t.len || live != g.live || t.deep != total-t.fewLen || (t.deep > 0) != (live > 0) {
		return fmt.Errorf("%d receives counted as %d, %d live groups counted as %d, %d deep", total, t.len, live, g.live, t.deep)
	}
	return CheckIndex(&g.byMask)
}

// Groups returns how many groups t has ever needed.
func Groups(t *Table) int { return len(t.groups.all) }

// LongestProbe returns the longest probe sequence of any value in x.
func LongestProbe(x *Index) int {
	longest, last := 0, len(x.chains.slots)-1
	for i, s := range x.chains.slots {
		if s.head != 0 {
			longest = max(longest, (i-int(Hash(s.value)))&last+1)
		}
	}
	return longest
}

func (c *chains) check(links []link) (ids int, err error) {
	used := 0
	for i, s := range c.slots {
		if s.head == 0 {
			continue
		}
		used++
		if c.find(s.value) != i {
			return 0, fmt.Errorf("value %#x at slot %d is not found there", s.value, i)
		}
		prev := s.head
		for r := s.head; r != 0; r = links[r-1].next {
			if l := links[r-1]; l.value != s.value || l.prev != prev {
				return 0, fmt.Errorf("id %d of value %#x is linked as %+v", r-1, s.value, l)
			}
			if links[r-1].next == 0 && s.tail != r {
				return 0, fmt.Errorf("value %#x ends at %d, not at its tail %d", s.value, r, s.tail)
			}
			prev = r
			ids++
		}
	}
	if used != c.used || 2*used > len(c.slots) {
		return 0, fmt.Errorf("%d of %d slots used, counted %d", used, len(c.slots), c.used)
	}
	return ids, nil
}
