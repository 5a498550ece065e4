package match_test

import "gomx/match"

// twin is the table as one would write it on a blackboard: receives in posting
// order, scanned from the front.
type twin struct{ posted []twinReceive }

type twinReceive struct {
	id          int32
	value, mask uint64
	stays       bool
}

func (t *twin) post(id int32, value, mask uint64, stays bool) {
	t.posted = append(t.posted, twinReceive{id, value, mask, stays})
}

func (t *twin) arrive(incoming uint64) (id int32, ok, stays bool) {
	for i, r := range t.posted {
		if incoming&r.mask == r.value {
			if r.stays {
				return r.id, true, true
			}
			t.posted = append(t.posted[:i], t.posted[i+1:]...)
			return r.id, true, false
		}
	}
	return 0, false, false
}

func (t *twin) cancel(id int32) bool {
	for i, r := range t.posted {
		if r.id == id {
			t.posted = append(t.posted[:i], t.posted[i+1:]...)
			return true
		}
	}
	return false
}

// pair runs the table and its twin side by side and fails where they differ.
type pair struct {
	table match.Table
	twin  twin
	free  []int32
	next  int32
	peak  int
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (p *pair) post(value, mask uint64) int32 {
	id := p.id()
	p.table.Post(id, value&mask, mask)
	p.twin.post(id, value&mask, mask, false)
	p.peak = max(p.peak, len(p.twin.posted))
	return id
}

func (p *pair) postMany(value, mask uint64) int32 {
	id := p.id()
	p.table.PostMany(id, value&mask, mask)
	p.twin.post(id, value&mask, mask, true)
	p.peak = max(p.peak, len(p.twin.posted))
	return id
}

// id returns one that is not in use.
func (p *pair) id() int32 {
	id := p.next
	if n := len(p.free); n > 0 {
		id, p.free = p.free[n-1], p.free[:n-1]
	} else {
		p.next++
	}
	return id
}

func (p *pair) arrive(t failer, incoming uint64) {
	t.Helper()
	got, ok := p.table.Arrive(incoming)
	want, wantOK, stays := p.twin.arrive(incoming)
	if ok != wantOK || ok && got != want {
		t.Fatalf("Arrive(%#x) = %d, %v; want %d, %v", incoming, got, ok, want, wantOK)
	}
	if ok && !stays {
		p.free = append(p.free, got)
	}
}

func (p *pair) cancel(t failer, id int32) {
	t.Helper()
	got, want := p.table.Cancel(id), p.twin.cancel(id)
	if got != want {
		t.Fatalf("Cancel(%d) = %v, want %v", id, got, want)
	}
	if got {
		p.free = append(p.free, id)
	}
}

func (p *pair) check(t failer) {
	t.Helper()
	if err := match.CheckTable(&p.table); err != nil {
		t.Fatalf("%v", err)
	}
	if got := p.table.Len(); got != len(p.twin.posted) {
		t.Fatalf("Len() = %d, want %d", got, len(p.twin.posted))
	}
	if s := p.table.Stats(); s.Depth != len(p.twin.posted) || s.Peak != p.peak {
		t.Fatalf("Stats() = %+v, want depth %d, peak %d", s, len(p.twin.posted), p.peak)
	}
}

// drain empties both through arrivals, which shows that they hold the same
// receives in the same order.
func (p *pair) drain(t failer) {
	t.Helper()
	for len(p.twin.posted) > 0 {
		last := p.twin.posted[len(p.twin.posted)-1]
		p.arrive(t, last.value)
		for i := len(p.twin.posted) - 1; i >= 0; i-- { // those that stay hide what is behind them
			if r := p.twin.posted[i]; r.stays && last.value&r.mask == r.value {
				p.cancel(t, r.id)
			}
		}
	}
	p.check(t)
	p.arrive(t, 0)
}
