package endpoint

import "gomx/transport/wire"

// EventKind is the kind of an Event.
type EventKind uint8

// The kinds of events. Which fields of an Event they fill is said with each; At is that of all.
const (
	EventSent       EventKind = iota + 1 // a message has left whole: peer, Session, Seq, Match, Bytes; Request unless it had none
	EventOffered                         // the header of a rendezvous has left: like EventSent
	EventDone                            // the notify of a rendezvous, a synchronous or an acknowledged send has arrived: peer, Request, Match, Bytes
	EventUnexpected                      // an unexpected message, or its header, has arrived: peer, Session, Seq, Match, Bytes
	EventMatched                         // a message was matched: like EventUnexpected, and Request unless there was none
	EventPipelined                       // a rendezvous is pipelined from now on: peer, Request, Match, Bytes
	EventPulled                          // the data of a rendezvous have arrived: peer, Request, Match, Bytes
	EventWait                            // a caller has waited since Since: Request if it was for one, and Match its class
	EventRegion                          // a layer above was in something since Since: Name, Match and Bytes as it likes
	EventNote                            // something has happened to a peer: peer, and in Name the NoteKind

	// Of a peer's window, or of our own: Match is for WindowPlace.
	EventPut          // a put, or its header, has left: peer, Session, Seq, Match, Bytes; Request unless it had none
	EventGet          // we have asked for bytes: like EventPut
	EventAtomic       // an atomic has left: like EventPut
	EventPutServed    // a put has come: peer, Session, Seq, Match, Bytes, which are there unless they are to be pulled
	EventGetServed    // a get has come, and is answered when the link has room: like EventPutServed
	EventAtomicServed // an atomic has been carried out: like EventPutServed
	EventAnswered     // a put, get or atomic with a request has ended: peer, Request, Bytes
	eventsEnd
)

// Known reports whether there are such events.
func (k EventKind) Known() bool { return k != 0 && k < eventsEnd }

// EventFlags say more about an event.
type EventFlags uint8

// The flags of events.
const (
	EventRendezvous  EventFlags = 1 << iota // the message is one whose bytes stay with the sender until it is matched
	EventSynchronous                        // of EventSent: EventDone follows
	EventStored                             // of EventMatched: the message was unexpected
	EventHandled                            // of EventMatched: the unexpected handler has taken it
	EventRefused                            // of EventAnswered: it was not carried out
)

// Event is one thing that has happened, and when. It has no pointers, and no padding: the memory may be that of a file. What was
// sent to a peer and has come to it has the same Session and Seq on both sides. No payload is in it.
type Event struct {
	At, Since int64 // by the clock of the Recorder
	Match     uint64
	Request   Handle // zero: none
	NIC       uint64 // of the peer
	Endpoint  uint32
	Session   uint32
	Seq       uint32
	Bytes     uint32
	Kind      EventKind
	Flags     EventFlags
	Name      uint16
	Turn      uint32 // how many were recorded with this one, lower half
}

// Recorder keeps the latest events of an engine in a ring. Whoever makes one fills the exported fields, and leaves it to
// the engine.
type Recorder struct {
	Events []Event       // the ring; as many as a power of two
	Count  *uint64       // how many were recorded so far; written after the event
	Clock  func() int64  // costs as little as can be, for it is read for each event
	began  int64         // when the send began that is tried now
	Due    int64         // when Lapse is called next, by that clock
	Lapse  func(n int64) // called from within the engine's methods; must not call back, and sets Due
}

// RecordTo records the events of messages in r; nil ends that. Without a recorder an event costs a comparison.
func (e *Engine) RecordTo(r *Recorder) { e.recorder = r }

// Recording returns the recorder, or nil.
func (e *Engine) Recording() *Recorder { return e.recorder }

// begin notes when a send begins. EventSent has this time: with the time at which the message has left, it could seem to
// arrive before it was sent.
func (r *Recorder) begin() { r.began = r.Clock() }

// next returns the next event of the ring, which replaces the oldest one.
func (r *Recorder) next(at int64, kind EventKind, flags EventFlags) *Event {
	ev := &r.Events[*r.Count&uint64(len(r.Events)-1)]
	ev.At = at
	ev.Kind, ev.Flags, ev.Name = kind, flags, 0
	return ev
}

// keep counts the event that next has returned.
func (r *Recorder) keep(ev *Event) {
	n := *r.Count + 1
	ev.Turn = uint32(n)
	*r.Count = n
	if ev.At >= r.Due {
		r.Lapse(ev.At)
	}
}

// Record adds an event of kind EventWait or EventRegion. Its At and Turn are set here.
func (e *Engine) Record(of Event) {
	r := e.recorder
	if r == nil {
		return
	}
	ev := r.next(r.Clock(), of.Kind, of.Flags)
	of.At = ev.At
	*ev = of
	r.keep(ev)
}

// message records what has happened to a message at a time.
func (r *Recorder) message(at int64, kind EventKind, flags EventFlags, p *peer, session, seq uint32, match uint64, bytes uint32, h Handle) {
	ev := r.next(at, kind, flags)
	ev.Since, ev.Match, ev.Request = 0, match, h
	ev.NIC, ev.Endpoint = p.at.nic, p.at.endpoint
	ev.Session, ev.Seq, ev.Bytes = session, seq, bytes
	r.keep(ev)
}

// sent records the message that was sent to a peer last, as of the time when it began.
func (r *Recorder) sent(kind EventKind, p *peer, match uint64, bytes int, h Handle, sync bool) {
	var flags EventFlags
	if sync {
		flags = EventSynchronous
	}
	if kind == EventOffered {
		flags |= EventRendezvous
	}
	r.message(r.began, kind, flags, p, p.remote, p.sendSeq-1, match, uint32(bytes), h)
}

// came records a message that has come in a frame.
func (r *Recorder) came(kind EventKind, flags EventFlags, p *peer, h *wire.Header, bytes int, to Handle) {
	if h.Kind == wire.Rendezvous {
		flags |= EventRendezvous
	}
	r.message(r.Clock(), kind, flags, p, h.Session, h.Seq, h.Match, uint32(bytes), to)
}

// self records a message to ourselves. In the place of a number it has the handle of the send.
func (r *Recorder) self(kind EventKind, flags EventFlags, p *peer, from Handle, match uint64, bytes uint32, h Handle) {
	r.message(r.Clock(), kind, flags, p, from.generation(), uint32(from), match, bytes, h)
}

// request records what has happened to a message that only its request is known of.
func (r *Recorder) request(kind EventKind, p *peer, slot int32, q *request) {
	r.message(r.Clock(), kind, 0, p, 0, 0, q.match, q.xferLen, handleOf(slot, q.generation))
}

// recordStored records that a message of the unexpected store has matched a receive.
func (e *Engine) recordStored(id int32, to Handle) {
	m := e.unexp.At(id)
	p := e.peers[m.Peer]
	if e.local(p) {
		e.recorder.self(EventMatched, EventStored, p, Handle(m.ID), m.Match, m.Length, to)
		return
	}
	flags := EventStored
	if storedKind(m.Kind) == storedRemote {
		flags |= EventRendezvous
	}
	e.recorder.message(e.recorder.Clock(), EventMatched, flags, p, p.local, uint32(m.Aux>>seqShift), m.Match, m.Length, to)
}

// seqShift is where the Aux of a stored message has the number of its frame. The lower half is the session.
const seqShift = 32
