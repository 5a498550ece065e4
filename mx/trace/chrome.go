package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Tracks of a rank, as threads of its process. Waits and regions take more tracks where they overlap, as many as mostLanes each.
const (
	trackMessages = 1
	trackWaits    = 1000
	trackRegions  = 2000
	mostLanes     = 1000
)

// instant is how long what takes no time is drawn, nanoseconds.
const instant = 200

// chrome writes events of Chrome's trace-event format.
type chrome struct {
	*bufio.Writer
	some bool
	free []int64 // of the tracks of messages of each rank: when the last event has ended
}

// WriteChrome writes the trace in Chrome's trace-event format, as JSON, which https://ui.perfetto.dev and chrome://tracing open: each rank is a process,
// messages are joined by arrows. The error is that of w.
func (t *Trace) WriteChrome(w io.Writer) error {
	c := &chrome{Writer: bufio.NewWriterSize(w, 1<<16), free: make([]int64, len(t.Ranks))}
	c.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	for n, r := range t.Ranks {
		c.name(n, 0, "process_name", fmt.Sprintf("%s (%s, pid %d on %s)", r.Name, r.Endpoint, r.PID, r.Host))
		c.meta(n, 0, "process_sort_index", "sort_index", strconv.Itoa(n))
		c.name(n, trackMessages, "thread_name", "messages")
		c.waits(t, n, r)
		c.regions(n, r)
		for i := range r.Notes {
			v := &r.Notes[i]
			c.event("i", n, trackMessages, v.At, v.What, `"s":"t","args":{"peer":`+quote(fmt.Sprintf("%x/%d", v.NIC, v.ID))+`}`)
		}
	}
	c.messages(t)
	c.WriteString("\n]}\n")
	return c.Flush()
}

// mark is what takes no time: a slice of a rank's track, perhaps with the beginning or the end of an arrow.
type mark struct {
	rank  int
	at    int64
	what  string
	about func() string // its arguments
	arrow byte          // 's' begins one, 'f' ends it; 0: none
	sort  string        // of the arrow, whose number it has among those
	id    int
}

// marks of all ranks.
type marks []mark

func (all *marks) add(m mark) {
	if m.rank >= 0 && m.at != Unknown {
		*all = append(*all, m)
	}
}

// ends returns the letters of both ends of an arrow, if there is one.
func (t *Trace) ends(from, to int, begin, end int64) (s, f byte) {
	if from >= 0 && to >= 0 && begin != Unknown && end != Unknown && t.comparable(from, to) {
		return 's', 'f'
	}
	return 0, 0
}

// messages writes what happened to messages and windows, for each rank in the order of time.
func (c *chrome) messages(t *Trace) {
	var all marks
	for i := range t.Messages {
		m := &t.Messages[i]
		begin, end := t.ends(m.From, m.To, m.Sent, m.Arrived)
		add := func(rank int, at int64, what string, arrow byte) {
			all.add(mark{rank, at, what, func() string { return t.about(i) }, arrow, "message", i})
		}
		if m.Rendezvous {
			add(m.From, m.Sent, "offer", begin)
		} else {
			add(m.From, m.Sent, "send", begin)
		}
		switch {
		case m.Matched == m.Arrived && m.Handled:
			add(m.To, m.Arrived, "handled", end)
		case m.Matched == m.Arrived:
			add(m.To, m.Arrived, "match", end)
		default:
			add(m.To, m.Arrived, "unexpected", end)
			add(m.To, m.Matched, "match", 0)
		}
		add(m.To, m.Pulled, "rendezvous data there", 0)
		add(m.From, m.Done, "done", 0)
		c.spans(t, i, m)
	}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		begin, end := t.ends(a.From, a.To, a.Begun, a.Served)
		about := func() string { return t.aboutAccess(a) }
		all.add(mark{a.From, a.Begun, a.What, about, begin, "access", i})
		all.add(mark{a.To, a.Served, a.What + " served", about, end, "access", i})
		c.span(a.From, a.Begun, a.Ended, a.What, i, about)
	}
	c.marks(all)
}

// marks writes marks one after the other: those of one track must not overlap.
func (c *chrome) marks(all marks) {
	slices.SortStableFunc(all, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	for i := range all {
		k := &all[i]
		at := max(k.at, c.free[k.rank])
		long := int64(instant)
		for j := i + 1; j < len(all) && all[j].at < at+long; j++ {
			if all[j].rank == k.rank {
				long = max(1, all[j].at-at)
				break
			}
		}
		c.free[k.rank] = at + long
		c.event("X", k.rank, trackMessages, at, k.what, `"dur":`+micros(long)+`,"args":`+k.about())
		if k.arrow != 0 {
			c.event(string(k.arrow), k.rank, trackMessages, at, k.sort, `"cat":`+quote(k.sort)+`,"bp":"e","id":`+strconv.Itoa(k.id))
		}
	}
}

// span writes what takes time: it may overlap with others, and has no track.
func (c *chrome) span(rank int, from, to int64, what string, i int, about func() string) {
	if rank < 0 || from == Unknown || to == Unknown || to < from {
		return
	}
	id := `"cat":` + quote(what) + `,"id":` + quote(what+strconv.Itoa(i))
	c.event("b", rank, trackMessages, from, what, id+`,"args":`+about())
	c.event("e", rank, trackMessages, to, what, id)
}

// spans writes what of a message takes time.
func (c *chrome) spans(t *Trace, i int, m *Message) {
	span := func(rank int, from, to int64, what string) {
		c.span(rank, from, to, what, i, func() string { return t.about(i) })
	}
	if m.Matched != m.Arrived {
		span(m.To, m.Arrived, m.Matched, "unexpected message")
	}
	switch {
	case m.Rendezvous && m.Blocks:
		span(m.To, m.Matched, m.Pulled, "pipelined rendezvous")
	case m.Rendezvous:
		span(m.To, m.Matched, m.Pulled, "get rendezvous")
	}
	if m.Rendezvous {
		span(m.From, m.Sent, m.Done, "rendezvous send")
	} else {
		span(m.From, m.Sent, m.Done, "synchronous or acknowledged send")
	}
}

// nameOf returns the name of a side.
func (t *Trace) nameOf(rank int) string {
	if rank < 0 {
		return "?"
	}
	return t.Ranks[rank].Name
}

// about are the arguments of an event of a message.
func (t *Trace) about(i int) string {
	m := &t.Messages[i]
	return `{"from":` + quote(t.nameOf(m.From)) + `,"to":` + quote(t.nameOf(m.To)) + `,"bytes":` + strconv.FormatUint(uint64(m.Bytes), 10) +
		`,"match":"0x` + strconv.FormatUint(m.Match, 16) + `"}`
}

func (c *chrome) waits(t *Trace, n int, r *Rank) {
	var l lanes
	for i := range r.Waits {
		w := &r.Waits[i]
		what, args := "wait", "{}"
		if w.Message >= 0 {
			args = t.about(w.Message)
		}
		if _, _, how, ok := t.blame(n, w); ok {
			what += ", " + how
		}
		lane := l.take(w.From, w.To)
		if l.fresh {
			c.name(n, trackWaits+lane, "thread_name", "waits")
		}
		c.event("X", n, trackWaits+lane, w.From, what, `"dur":`+micros(w.To-w.From)+`,"args":`+args)
	}
}

func (c *chrome) regions(n int, r *Rank) {
	var l lanes
	for i := range r.Regions {
		g := &r.Regions[i]
		lane := l.take(g.From, g.To)
		if l.fresh {
			c.name(n, trackRegions+lane, "thread_name", "regions")
		}
		c.event("X", n, trackRegions+lane, g.From, g.Name, `"dur":`+micros(g.To-g.From)+
			`,"args":{"id":`+strconv.FormatUint(g.ID, 10)+`,"bytes":`+strconv.FormatUint(uint64(g.Bytes), 10)+`}`)
	}
}

// lanes give tracks to what may overlap.
type lanes struct {
	ends  []int64
	fresh bool // the lane that was taken last is a new one
}

func (l *lanes) take(from, to int64) int {
	for i, end := range l.ends {
		if end <= from {
			l.ends[i], l.fresh = to, false
			return i
		}
	}
	if len(l.ends) == mostLanes {
		l.fresh = false
		return mostLanes - 1
	}
	l.ends, l.fresh = append(l.ends, to), true
	return len(l.ends) - 1
}

// event writes one event; rest is what its kind has besides. Process 0 would be the idle one of a machine.
func (c *chrome) event(kind string, pid, tid int, at int64, name, rest string) {
	c.begin()
	c.WriteString(`{"ph":"` + kind + `","pid":` + strconv.Itoa(pid+1) + `,"tid":` + strconv.Itoa(tid) + `,"ts":` + micros(at) + `,"name":` + quote(name))
	if rest != "" {
		c.WriteString("," + rest)
	}
	c.WriteByte('}')
}

func (c *chrome) begin() {
	if c.some {
		c.WriteByte(',')
	}
	c.some = true
	c.WriteByte('\n')
}

func (c *chrome) name(pid, tid int, what, name string) { c.meta(pid, tid, what, "name", quote(name)) }

func (c *chrome) meta(pid, tid int, what, key, value string) {
	c.begin()
	fmt.Fprintf(c, `{"ph":"M","pid":%d,"tid":%d,"name":%s,"args":{%s:%s}}`, pid+1, tid, quote(what), quote(key), value)
}

// micros writes nanoseconds as microseconds.
func micros(ns int64) string { return strconv.FormatFloat(float64(ns)/1000, 'f', 3, 64) }

func quote(s string) string {
	b, _ := json.Marshal(s) // a string has no errors
	return string(b)
}
