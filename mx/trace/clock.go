package trace

import (
	"math"

	"gomx/endpoint"
)

// Clock is a clock that the times of some ranks come from: those of a host have the same one.
type Clock struct {
	Name        string `json:"name"`
	Aligned     bool   `json:"aligned"`        // with the first one; else its times can't be compared with others
	Offset      int64  `json:"offset_ns"`      // that was added to its times
	Uncertainty int64  `json:"uncertainty_ns"` // that this offset has, either way
	Note        string `json:"note,omitempty"` // what is wrong with it
}

// scale makes nanoseconds of the times of all events, from the first of each clock on. The rate of a clock is the one that
// was measured for longest.
func (t *Trace) scale() {
	type base struct {
		first int64
		rate  float64
		span  int64
	}
	var bases []base
	at := map[string]int{}
	for _, r := range t.Ranks {
		f := r.file.file
		n, known := at[f.Clock]
		if !known {
			n = len(bases)
			at[f.Clock] = n
			bases = append(bases, base{math.MaxInt64, 1, -1})
			t.Clocks = append(t.Clocks, Clock{Name: f.Clock})
		}
		r.Clock = n
		b := &bases[n]
		if f.Span > b.span {
			b.rate, b.span = f.Rate, f.Span
		}
		for i := range r.events {
			b.first = min(b.first, r.events[i].At)
			if s := r.events[i].Since; s != 0 {
				b.first = min(b.first, s)
			}
		}
	}
	for _, r := range t.Ranks {
		b := bases[r.Clock]
		for i := range r.events {
			ev := &r.events[i]
			ev.At = int64(float64(ev.At-b.first) * b.rate)
			if ev.Kind == endpoint.EventWait || ev.Kind == endpoint.EventRegion {
				ev.Since = int64(float64(ev.Since-b.first) * b.rate)
			}
		}
	}
}

// least is the shortest time that a message from one clock to another seems to have taken.
type least [][]int64

const never = math.MaxInt64

// align has all clocks show what the first one does. The quickest messages of both directions bound how far apart two are: each has taken
// some time. The bound is halved, and the other half is the uncertainty.
func (t *Trace) align() {
	n := len(t.Clocks)
	short := make(least, n)
	for i := range short {
		short[i] = make([]int64, n)
		for k := range short[i] {
			short[i][k] = never
		}
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		if m.From < 0 || m.To < 0 || m.Sent == Unknown || m.Arrived == Unknown {
			continue
		}
		from, to := t.Ranks[m.From].Clock, t.Ranks[m.To].Clock
		short[from][to] = min(short[from][to], m.Arrived-m.Sent)
	}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		if a.From < 0 || a.To < 0 || a.Begun == Unknown || a.Served == Unknown {
			continue
		}
		from, to := t.Ranks[a.From].Clock, t.Ranks[a.To].Clock
		short[from][to] = min(short[from][to], a.Served-a.Begun)
		if a.Ended != Unknown {
			short[to][from] = min(short[to][from], a.Ended-a.Served)
		}
	}
	t.Clocks[0].Aligned = true
	for {
		from, to, doubt := short.next(t.Clocks)
		if to < 0 {
			break
		}
		there, back := short[from][to], short[to][from]
		c := &t.Clocks[to]
		c.Aligned, c.Uncertainty = true, t.Clocks[from].Uncertainty+max(doubt, 0)
		c.Offset = t.Clocks[from].Offset - there/2 + back/2
		if doubt < 0 {
			c.Note = "messages seem to arrive before they were sent, whatever the offset: the clocks have drifted apart"
		}
	}
	for i := range t.Clocks {
		if !t.Clocks[i].Aligned {
			t.Clocks[i].Note = "no messages in both directions tell how far it is from the others"
		}
	}
	t.shift()
}

// next returns the best pair of an aligned clock and one that is not yet, and what is uncertain between them. to is -1 if there is none.
func (short least) next(clocks []Clock) (from, to int, doubt int64) {
	to, doubt = -1, never
	best := int64(never)
	for a := range clocks {
		for b := range clocks {
			if !clocks[a].Aligned || clocks[b].Aligned || short[a][b] == never || short[b][a] == never {
				continue
			}
			if d := (short[a][b] + short[b][a]) / 2; clocks[a].Uncertainty+d < best {
				best, from, to, doubt = clocks[a].Uncertainty+d, a, b, d
			}
		}
	}
	return from, to, doubt
}

// shift has the times begin with 0.
func (t *Trace) shift() {
	first := int64(never)
	for _, r := range t.Ranks {
		for i := range r.events {
			first = min(first, r.events[i].At+t.Clocks[r.Clock].Offset)
		}
		for i := range r.Waits {
			first = min(first, r.Waits[i].From+t.Clocks[r.Clock].Offset)
		}
		for i := range r.Regions {
			first = min(first, r.Regions[i].From+t.Clocks[r.Clock].Offset)
		}
	}
	move := func(rank int, at *int64) {
		if *at != Unknown && rank >= 0 {
			*at += t.Clocks[t.Ranks[rank].Clock].Offset - first
		}
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		move(m.From, &m.Sent)
		move(m.From, &m.Done)
		move(m.To, &m.Arrived)
		move(m.To, &m.Matched)
		move(m.To, &m.Pulled)
	}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		move(a.From, &a.Begun)
		move(a.From, &a.Ended)
		move(a.To, &a.Served)
	}
	for n, r := range t.Ranks {
		for i := range r.Waits {
			move(n, &r.Waits[i].From)
			move(n, &r.Waits[i].To)
		}
		for i := range r.Regions {
			move(n, &r.Regions[i].From)
			move(n, &r.Regions[i].To)
		}
		for i := range r.Notes {
			move(n, &r.Notes[i].At)
		}
		for i := range r.done {
			move(n, &r.done[i].at)
		}
		for i := range r.events {
			move(n, &r.events[i].At)
		}
		if len(r.events) > 0 {
			r.First, r.Last = r.events[0].At, r.events[len(r.events)-1].At
			for i := range r.Waits {
				r.First = min(r.First, r.Waits[i].From)
			}
		}
	}
}
