package trace

import (
	"cmp"
	"slices"
)

// Report is what a Trace says about who has waited for whom. Times are nanoseconds.
type Report struct {
	Duration int64        `json:"duration_ns"` // from the first event to the last
	Size     int          `json:"size"`        // ranks of the job; 0: it is not known
	Missing  []int        `json:"missing_ranks"`
	Apart    [][]string   `json:"files_apart,omitempty"` // groups of files whose endpoints have exchanged nothing with each other
	Ranks    []RankReport `json:"ranks"`
	Late     []Late       `json:"late"` // the longest first
	Path     Path         `json:"critical_path"`
	Clocks   []Clock      `json:"clocks"`
}

// RankReport sums up a rank.
type RankReport struct {
	Name       string `json:"name"`
	File       string `json:"file"`
	Host       string `json:"host"`
	PID        int    `json:"pid"`
	Endpoint   string `json:"endpoint"`
	Closed     bool   `json:"closed"`
	Lost       uint64 `json:"events_overwritten"`
	Cut        uint64 `json:"events_cut"`
	Damaged    uint64 `json:"events_damaged"`
	Sent       uint64 `json:"messages_sent"`
	Received   uint64 `json:"messages_received"`
	Unexpected uint64 `json:"messages_unexpected"`
	Puts       uint64 `json:"puts"` // into windows of others, or its own
	Gets       uint64 `json:"gets"`
	Atomics    uint64 `json:"atomics"`
	Refused    uint64 `json:"window_accesses_refused"` // of its puts, gets and atomics
	Served     uint64 `json:"window_accesses_served"`  // by its own windows
	Accessing  int64  `json:"window_accesses_ns"`      // from their beginnings until it heard of their ends, summed up
	Waits      uint64 `json:"waits"`
	Waited     int64  `json:"waited_ns"`
	Behind     int64  `json:"waited_for_late_ranks_ns"` // of Waited: for peers that had not sent, or not received, yet
	Held       int64  `json:"others_waited_for_it_ns"`
	OnPath     int64  `json:"on_critical_path_ns"`
}

// Late says that one rank has waited for another that was late.
type Late struct {
	Waiter string `json:"waiter"`
	For    string `json:"for"`
	How    string `json:"how"` // LateSender or LateReceiver
	Waits  uint64 `json:"waits"`
	Time   int64  `json:"time_ns"`
}

// What Late.How says.
const (
	LateSender   = "late sender"   // a receive waited, and its message was not sent yet
	LateReceiver = "late receiver" // a send waited, and its message was not received yet
)

// Path is the critical path: from the end of the trace back, what each rank did that nobody waited for, and where it had waited for a
// late one, what that one did until then.
type Path struct {
	From   int64  `json:"from_ns"` // since the first event; later than 0 where events were overwritten
	To     int64  `json:"to_ns"`
	Waits  int64  `json:"messages_ns"` // the part in which messages were on their way
	Holder string `json:"holder"`      // the rank that holds up the others; "": none does
	Hops   int    `json:"hops"`        // changes from one rank to another
}

// Report finds out who has waited for whom.
func (t *Trace) Report() *Report {
	rep := &Report{Size: t.Size, Missing: append([]int{}, t.Missing...), Clocks: t.Clocks, Late: []Late{}}
	for _, r := range t.Ranks {
		rep.Duration = max(rep.Duration, r.Last)
		rep.Ranks = append(rep.Ranks, RankReport{
			Name: r.Name, File: r.Path, Host: r.Host, PID: r.PID, Endpoint: r.Endpoint, Closed: r.Closed, Lost: r.Lost, Cut: r.Cut, Damaged: r.Damaged,
		})
	}
	for _, group := range t.Apart {
		rep.Apart = append(rep.Apart, t.Paths(group))
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		if m.From >= 0 {
			rep.Ranks[m.From].Sent++
		}
		if m.To >= 0 && m.Matched != Unknown {
			rep.Ranks[m.To].Received++
			if m.Matched != m.Arrived {
				rep.Ranks[m.To].Unexpected++
			}
		}
	}
	for i := range t.Accesses {
		t.Accesses[i].count(rep)
	}
	held := t.lateness(rep)
	t.path(rep)
	rep.Path.Holder = rep.holder(held, t.stretches(rep.Path.From))
	return rep
}

// blame says which rank a wait was for that was late, since when it need not have been, and how late it was. ok is false if nobody was.
func (t *Trace) blame(rank int, w *Wait) (late int, at int64, how string, ok bool) {
	if w.Message < 0 {
		return 0, 0, "", false
	}
	m := &t.Messages[w.Message]
	late, at, how = m.From, m.Sent, LateSender
	if w.Sending {
		late, at, how = m.To, m.Matched, LateReceiver
	}
	if late < 0 || late == rank || at == Unknown || at <= w.From || !t.comparable(rank, late) {
		return 0, 0, "", false
	}
	return late, min(at, w.To), how, true
}

// comparable reports whether times of two ranks can be compared.
func (t *Trace) comparable(a, b int) bool {
	ca, cb := t.Ranks[a].Clock, t.Ranks[b].Clock
	return ca == cb || t.Clocks[ca].Aligned && t.Clocks[cb].Aligned
}

// lateness adds up for how long ranks have waited for late ones, and returns the single times by the rank that was late.
func (t *Trace) lateness(rep *Report) (held [][]int64) {
	held = make([][]int64, len(t.Ranks))
	type pair struct {
		waiter, late int
		how          string
	}
	sums := map[pair]*Late{}
	for n, r := range t.Ranks {
		for i := range r.Waits {
			w := &r.Waits[i]
			rep.Ranks[n].Waits++
			rep.Ranks[n].Waited += w.To - w.From
			late, at, how, ok := t.blame(n, w)
			if !ok {
				continue
			}
			key := pair{n, late, how}
			if sums[key] == nil {
				sums[key] = &Late{Waiter: r.Name, For: t.Ranks[late].Name, How: how}
			}
			sums[key].Waits++
			sums[key].Time += at - w.From
			rep.Ranks[n].Behind += at - w.From
			rep.Ranks[late].Held += at - w.From
			held[late] = append(held[late], at-w.From)
		}
	}
	for _, l := range sums {
		rep.Late = append(rep.Late, *l)
	}
	slices.SortFunc(rep.Late, func(a, b Late) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Waiter, b.Waiter), cmp.Compare(a.For, b.For), cmp.Compare(a.How, b.How))
	})
	return held
}

// path goes back along the critical path from the rank that was there last.
func (t *Trace) path(rep *Report) {
	at, cur, begin := int64(-1), 0, int64(0)
	left := make([]int, len(t.Ranks)) // waits that have not been passed
	for n, r := range t.Ranks {
		left[n] = len(r.Waits)
		if r.Lost > 0 {
			begin = max(begin, r.First)
		}
		if r.Last > at {
			at, cur = r.Last, n
		}
	}
	rep.Path.From, rep.Path.To = begin, max(at, begin)
	for at > begin {
		r := t.Ranks[cur]
		for left[cur] > 0 && r.Waits[left[cur]-1].To > at {
			left[cur]--
		}
		if left[cur] == 0 || r.Waits[left[cur]-1].To <= begin {
			rep.Ranks[cur].OnPath += at - begin
			break
		}
		left[cur]--
		w := &r.Waits[left[cur]]
		rep.Ranks[cur].OnPath += at - w.To
		late, since, _, ok := t.blame(cur, w)
		if !ok {
			since = w.From
		}
		rep.Path.Waits += w.To - max(since, begin)
		if at = since; ok {
			cur = late
			rep.Path.Hops++
		}
	}
}
