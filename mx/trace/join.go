package trace

import (
	"cmp"
	"slices"

	"gomx/endpoint"
)

// place is the address of an endpoint.
type place struct {
	nic uint64
	id  uint32
}

// number names a message: both sides give it the same.
type number struct {
	from, to     place
	session, seq uint32
}

// request names a request of a rank.
type request struct {
	rank   int
	handle endpoint.Handle
}

// joiner puts together what both sides know of messages.
type joiner struct {
	t        *Trace
	known    map[number]int  // place in Messages
	sends    map[request]int // the message that a send was about last
	receives map[request]int
	asked    map[number]int  // place in Accesses
	accesses map[request]int // the one that a request was for last
}

// join makes the messages of the events. Handles are used again only after what they were given for.
func (t *Trace) join() {
	j := &joiner{t, map[number]int{}, map[request]int{}, map[request]int{}, map[number]int{}, map[request]int{}}
	for i, r := range t.Ranks {
		own := place{r.file.file.NIC, r.file.file.ID}
		for k := range r.events {
			j.add(i, r, own, &r.events[k])
		}
	}
}

func (j *joiner) add(rank int, r *Rank, own place, ev *endpoint.Event) {
	peer := place{ev.NIC, ev.Endpoint}
	switch ev.Kind {
	case endpoint.EventSent, endpoint.EventOffered:
		at, m := j.message(number{own, peer, ev.Session, ev.Seq}, ev)
		m.From, m.Sent = rank, ev.At
		j.sends[request{rank, ev.Request}] = at
	case endpoint.EventDone:
		if at, known := j.sends[request{rank, ev.Request}]; known {
			j.t.Messages[at].Done = ev.At
			r.done = append(r.done, completion{ev.At, ev.Request, at, true})
		}
	case endpoint.EventUnexpected:
		_, m := j.message(number{peer, own, ev.Session, ev.Seq}, ev)
		m.To, m.Arrived = rank, ev.At
	case endpoint.EventMatched:
		at, m := j.message(number{peer, own, ev.Session, ev.Seq}, ev)
		m.To, m.Matched = rank, ev.At
		m.Handled = ev.Flags&endpoint.EventHandled != 0
		if ev.Flags&endpoint.EventStored == 0 {
			m.Arrived = ev.At
		}
		if m.Rendezvous {
			j.receives[request{rank, ev.Request}] = at
		} else {
			r.done = append(r.done, completion{ev.At, ev.Request, at, false})
		}
	case endpoint.EventPipelined, endpoint.EventPulled:
		at, known := j.receives[request{rank, ev.Request}]
		switch {
		case !known:
		case ev.Kind == endpoint.EventPipelined:
			j.t.Messages[at].Blocks = true
		default:
			j.t.Messages[at].Pulled = ev.At
			r.done = append(r.done, completion{ev.At, ev.Request, at, false})
		}
	case endpoint.EventWait:
		r.Waits = append(r.Waits, Wait{From: ev.Since, To: ev.At, Class: ev.Match, Message: -1, request: ev.Request})
	case endpoint.EventRegion:
		g := Region{From: ev.Since, To: ev.At, ID: ev.Match, Bytes: ev.Bytes}
		if g.Name = noName; ev.Name > 0 && int(ev.Name) <= len(r.file.file.Names) {
			g.Name = r.file.file.Names[ev.Name-1]
		}
		r.Regions = append(r.Regions, g)
	case endpoint.EventNote:
		r.Notes = append(r.Notes, Note{ev.At, noteText(ev.Name), ev.NIC, ev.Endpoint})
	default:
		j.addAccess(rank, r, own, ev)
	}
}

// noName is the name of regions that came when there was no space for another one.
const noName = "(no space for its name)"

// message returns the message of a number.
func (j *joiner) message(n number, ev *endpoint.Event) (int, *Message) {
	at, known := j.known[n]
	if !known {
		at = len(j.t.Messages)
		j.known[n] = at
		j.t.Messages = append(j.t.Messages, Message{From: -1, To: -1, Sent: Unknown, Arrived: Unknown, Matched: Unknown, Pulled: Unknown, Done: Unknown})
	}
	m := &j.t.Messages[at]
	m.Match, m.Bytes = ev.Match, ev.Bytes
	m.Rendezvous = m.Rendezvous || ev.Flags&endpoint.EventRendezvous != 0
	return at, m
}

// noteTexts are what notes say.
var noteTexts = map[endpoint.NoteKind]string{
	endpoint.Connected: "connected", endpoint.SessionEnded: "session ended", endpoint.Broken: "link broken", endpoint.Resumed: "session resumed",
	endpoint.RefusedPeer: "connect refused", endpoint.TurnedDown: "connect rejected", endpoint.BackPressure: "back-pressure: sends wait for credit", endpoint.FellBack: "get rendezvous failed",
}

func noteText(kind uint16) string { return cmp.Or(noteTexts[endpoint.NoteKind(kind)], "something") }

// finish sorts, and finds for each wait the message whose end has ended it: that of its request, or else the last one before.
func (t *Trace) finish() {
	order := make([]int, len(t.Messages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.Messages[a].begin(), t.Messages[b].begin()) })
	sorted, now := make([]Message, len(order)), make([]int, len(order))
	for to, from := range order {
		sorted[to], now[from] = t.Messages[from], to
	}
	t.Messages = sorted
	slices.SortStableFunc(t.Accesses, func(a, b Access) int { return cmp.Compare(a.begin(), b.begin()) })
	for _, r := range t.Ranks {
		for i := range r.done {
			if c := &r.done[i]; c.message >= 0 {
				c.message = now[c.message]
			}
		}
		slices.SortStableFunc(r.Waits, func(a, b Wait) int { return cmp.Compare(a.To, b.To) })
		r.attribute()
		r.Waits = whole(r.Waits)
	}
}

// mostApart is the longest time between two parts of a wait, nanoseconds. Where cores are taken it is often some 20 µs.
const mostApart = 100_000

// whole puts waits together that are parts of one: a receive may wait for a moment before it is a request, and then as one, and a wait
// may be woken up, as for a look at what ranks wait for, and go on as one for several requests.
func whole(waits []Wait) []Wait {
	list := waits[:0]
	for _, w := range waits {
		if n := len(list) - 1; n >= 0 && w.continues(&list[n]) {
			w.From = list[n].From
			list[n] = w
			continue
		}
		list = append(list, w)
	}
	return list
}

// continues reports whether a wait is the next part of an earlier one.
func (w *Wait) continues(part *Wait) bool {
	return part.Message < 0 && w.From >= part.To && w.From-part.To < mostApart &&
		(part.request == w.request || part.request == 0 || w.request == 0)
}

// begin is the earliest that is known of a message.
func (m *Message) begin() int64 {
	for _, at := range []int64{m.Sent, m.Arrived, m.Matched} {
		if at != Unknown {
			return at
		}
	}
	return m.Pulled
}

// attribute finds what has ended each wait: the latest completion within it, of its request if it had one, and else of any message.
func (r *Rank) attribute() {
	latest := map[endpoint.Handle]int{} // completion of each request, and of the zero one for those that had none
	next := 0
	for i := range r.Waits {
		w := &r.Waits[i]
		for ; next < len(r.done) && r.done[next].at <= w.To; next++ {
			c := &r.done[next]
			if c.request != 0 {
				latest[c.request] = next
			}
			if c.message >= 0 {
				latest[0] = next
			}
		}
		if at, known := latest[w.request]; known && r.done[at].at > w.From {
			w.Message, w.Sending = r.done[at].message, r.done[at].sending
		}
	}
}
