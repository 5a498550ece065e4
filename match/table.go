package match

// New receives go into a queue, which Arrive scans. Comparing up to about walkMax receives one by one is cheaper than a hash, and
// if receives are matched in the order in which they were posted, the first comparison succeeds. When the queue is full, or when
// searches had to walk too far, all its receives move to the groups. So the receives in the groups are older than those in the queue.
const (
	fewMax  = 64 // a power of two
	walkMax = 8
)

// Table holds posted receives. The caller gives each an id. Ids should be small and
// dense, since memory is 32 bytes for each id up to the largest ever posted.
//
// The zero value is ready for use. A Table may not be used by two goroutines at
// once.
type Table struct {
	few    [fewMax]receive // the queue, a ring in posting order
	front  uint
	fewLen int
	walked uint // receives walked past since the queue was empty
	deep   int  // receives in the groups
	len    int

	peak     int
	probes   uint64
	arrivals uint64

	groups groups
}

// receive is one posted receive in the queue.
type receive struct {
	value, mask uint64
	id          int32
	stays       bool
}

// Stats are a table's counters since it was made.
type Stats struct {
	Depth    int    // receives posted now
	Peak     int    // most receives that were ever posted at once
	Probes   uint64 // receives in the queue and indexes of groups that Arrive has looked at
	Arrivals uint64 // calls of Arrive
}

// Post adds a receive behind all others. The caller guarantees that value and
// mask are [Valid] and that id, zero or more, is not posted already.
func (t *Table) Post(id int32, value, mask uint64) { t.post(id, value, mask, false) }

// PostMany posts a receive for many messages. Arrive finds it and leaves it in its place, until Cancel removes it.
func (t *Table) PostMany(id int32, value, mask uint64) { t.post(id, value, mask, true) }

func (t *Table) post(id int32, value, mask uint64, stays bool) {
	t.len++
	if t.len > t.peak {
		t.peak = t.len
	}
	if n := uint(t.fewLen); n < fewMax {
		r := t.at(n)
		r.value, r.mask, r.id, r.stays = value, mask, id, stays
		t.fewLen++
		return
	}
	t.deepen()
	t.deep++
	t.groups.post(id, value, mask, stays)
}

// Arrive finds the oldest posted receive that a message carrying incoming
// belongs to, and removes it from the table unless PostMany has posted it. If there
// is none, ok is false and id has no meaning.
func (t *Table) Arrive(incoming uint64) (id int32, ok bool) {
	if Counting {
		t.arrivals++
	}
	if t.deep != 0 {
		t.probe(uint64(t.groups.live))
		if id, ok := t.groups.arrive(incoming); ok {
			if !t.groups.posted[id].stays {
				t.deep--
				t.len--
			}
			return id, true
		}
	}
	if t.fewLen == 0 {
		return 0, false
	}
	if r := t.at(0); Matches(incoming, r.value, r.mask) {
		t.probe(1)
		if r.stays {
			return r.id, true
		}
		t.front++
		if t.fewLen--; t.fewLen == 0 {
			t.walked = 0
		}
		t.len--
		return r.id, true
	}
	return t.arriveBehind(incoming)
}

// probe counts receives, or groups of them, that were looked at.
func (t *Table) probe(n uint64) {
	if Counting {
		t.probes += n
	}
}

// at returns entry i of the ring.
func (t *Table) at(i uint) *receive { return &t.few[(t.front+i)%fewMax] }

// arriveBehind is Arrive when the oldest receive does not match.
func (t *Table) arriveBehind(incoming uint64) (int32, bool) {
	for i := uint(1); i < uint(t.fewLen); i++ {
		r := t.at(i)
		if !Matches(incoming, r.value, r.mask) {
			continue
		}
		t.probe(uint64(i) + 1)
		id := r.id
		if !r.stays {
			t.closeGap(i)
		}
		t.tire(i)
		return id, true
	}
	t.probe(uint64(t.fewLen))
	t.tire(uint(t.fewLen))
	return 0, false
}

// tire notes that a search has walked past n receives. After a long walk, or after many short walks since the queue was empty, it
// moves the queue to the groups.
func (t *Table) tire(n uint) {
	if t.walked += n; n > walkMax || t.walked > fewMax {
		t.deepen()
	}
}

// Posted reports whether a message carrying incoming would find a receive. It
// changes nothing.
func (t *Table) Posted(incoming uint64) bool {
	if t.deep != 0 && t.groups.posts(incoming) {
		return true
	}
	for i := range uint(t.fewLen) {
		if r := t.at(i); Matches(incoming, r.value, r.mask) {
			return true
		}
	}
	return false
}

// Cancel removes the receive from the table and reports whether it was posted. If
// not, it was matched before, or never posted.
func (t *Table) Cancel(id int32) bool {
	for i := range uint(t.fewLen) {
		if t.at(i).id == id {
			t.closeGap(i)
			return true
		}
	}
	if t.deep == 0 || !t.groups.cancel(id) {
		return false
	}
	t.deep--
	t.len--
	return true
}

// Len returns the number of receives posted.
func (t *Table) Len() int { return t.len }

// Stats returns the table's counters.
func (t *Table) Stats() Stats {
	return Stats{Depth: t.len, Peak: t.peak, Probes: t.probes, Arrivals: t.arrivals}
}

// closeGap removes entry i of the ring by moving the entries before it up.
func (t *Table) closeGap(i uint) {
	for ; i > 0; i-- {
		*t.at(i) = *t.at(i - 1)
	}
	t.front++
	t.fewLen--
	t.len--
}

// deepen moves the queue to the groups.
func (t *Table) deepen() {
	for i := range uint(t.fewLen) {
		r := t.at(i)
		t.groups.post(r.id, r.value, r.mask, r.stays)
	}
	t.deep += t.fewLen
	t.fewLen, t.walked = 0, 0
}
