package trace

import (
	"strconv"

	"gomx/endpoint"
)

// Access is what is known of a put, get or atomic of a window. Times that no file has are Unknown.
type Access struct {
	From, To int    // places in Ranks, of who has asked and of whose window it is; -1: there is no trace of that side
	What     string // Put, Get or Atomic
	Window   uint32 // number of the window at its endpoint
	Offset   uint32 // place in it, bytes
	Bytes    uint32 // that it is about
	Refused  bool   // it was not carried out
	Begun    int64  // when it left
	Served   int64  // when the owner of the window took the bytes of a put, or began to pull them, began to answer a get, or carried out an atomic
	Ended    int64  // when who has asked heard of it; Unknown if it was not to be answered
}

// What Access.What says.
const (
	Put    = "put"
	Get    = "get"
	Atomic = "atomic"
)

// accessOf says what events are about that both sides have of accesses, and whether it is the one of who asks.
var accessOf = map[endpoint.EventKind]struct {
	what  string
	asked bool
}{
	endpoint.EventPut: {Put, true}, endpoint.EventGet: {Get, true}, endpoint.EventAtomic: {Atomic, true},
	endpoint.EventPutServed: {Put, false}, endpoint.EventGetServed: {Get, false}, endpoint.EventAtomicServed: {Atomic, false},
}

// addAccess adds what an event says of a put, get or atomic.
func (j *joiner) addAccess(rank int, r *Rank, own place, ev *endpoint.Event) {
	peer, of := place{ev.NIC, ev.Endpoint}, accessOf[ev.Kind]
	switch {
	case ev.Kind == endpoint.EventAnswered:
		if at, known := j.accesses[request{rank, ev.Request}]; known {
			a := &j.t.Accesses[at]
			a.Ended, a.Refused = ev.At, ev.Flags&endpoint.EventRefused != 0
			r.done = append(r.done, completion{at: ev.At, request: ev.Request, message: -1})
		}
	case of.asked:
		at, a := j.access(number{own, peer, ev.Session, ev.Seq}, of.what, ev)
		a.From, a.Begun = rank, ev.At
		if ev.Request != 0 {
			j.accesses[request{rank, ev.Request}] = at
		}
	default:
		_, a := j.access(number{peer, own, ev.Session, ev.Seq}, of.what, ev)
		a.To, a.Served = rank, ev.At
	}
}

// access returns the access of a number.
func (j *joiner) access(n number, what string, ev *endpoint.Event) (int, *Access) {
	at, known := j.asked[n]
	if !known {
		at = len(j.t.Accesses)
		j.asked[n] = at
		j.t.Accesses = append(j.t.Accesses, Access{From: -1, To: -1, Begun: Unknown, Served: Unknown, Ended: Unknown})
	}
	a := &j.t.Accesses[at]
	a.What, a.Bytes = what, ev.Bytes
	a.Window, a.Offset = endpoint.WindowPlace(ev.Match)
	return at, a
}

// begin is the earliest that is known of an access.
func (a *Access) begin() int64 {
	if a.Begun != Unknown {
		return a.Begun
	}
	return a.Served
}

// aboutAccess are the arguments of an event of an access.
func (t *Trace) aboutAccess(a *Access) string {
	s := `{"from":` + quote(t.nameOf(a.From)) + `,"to":` + quote(t.nameOf(a.To)) + `,"bytes":` + strconv.FormatUint(uint64(a.Bytes), 10) +
		`,"window":` + strconv.FormatUint(uint64(a.Window), 10) + `,"offset":` + strconv.FormatUint(uint64(a.Offset), 10)
	if a.Refused {
		s += `,"refused":true`
	}
	return s + "}"
}

// count adds the access to the report.
func (a *Access) count(rep *Report) {
	if a.To >= 0 {
		rep.Ranks[a.To].Served++
	}
	if a.From < 0 {
		return
	}
	r := &rep.Ranks[a.From]
	switch a.What {
	case Put:
		r.Puts++
	case Get:
		r.Gets++
	case Atomic:
		r.Atomics++
	}
	if a.Refused {
		r.Refused++
	}
	if a.Ended != Unknown {
		r.Accessing += a.Ended - a.Begun
	}
}
