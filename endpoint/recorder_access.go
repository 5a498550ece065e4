package endpoint

import "gomx/transport/wire"

// WindowPlace returns what the Match of an event says of a put, get or atomic: the number of the window, whose name is nobody else's
// business, and the place in it, bytes.
func WindowPlace(match uint64) (window, at uint32) {
	return uint32(match >> windowPlaceShift), uint32(match)
}

const windowPlaceShift = 32

func windowPlace(window uint64, at uint32) uint64 {
	return windowSlot(window)<<windowPlaceShift | uint64(at)
}

// accessKinds are the events of requests for windows.
var accessKinds = [...]EventKind{kindPut: EventPut, kindGet: EventGet, kindAtomic: EventAtomic, kindFetch: EventAtomic}

// access records what the frame asks for that was sent to a peer last, as of the time when it began. Without a request, h is 0.
func (r *Recorder) access(kind EventKind, p *peer, window uint64, at, bytes uint32, h Handle) {
	r.message(r.began, kind, 0, p, p.remote, p.sendSeq-1, windowPlace(window, at), bytes, h)
}

// served records that what a peer's frame asks for is carried out, or begins to be.
func (r *Recorder) served(kind EventKind, p *peer, h *wire.Header, bytes uint32) {
	r.message(r.Clock(), kind, 0, p, h.Session, h.Seq, windowPlace(h.Match, h.Offset), bytes, 0)
}

// ownAccess records what is done with a window of our own. In the place of a number it has that of the event.
func (r *Recorder) ownAccess(asked, served EventKind, p *peer, window uint64, at, bytes uint32, h Handle, done bool) {
	now, seq, place := r.Clock(), uint32(*r.Count), windowPlace(window, at)
	r.message(now, asked, 0, p, 0, seq, place, bytes, h)
	if done {
		r.message(now, served, 0, p, 0, seq, place, bytes, 0)
	}
	if h != 0 {
		r.message(now, EventAnswered, refusedUnless(done), p, 0, 0, 0, bytes, h)
	}
}

// answered records the end of a put, get or atomic.
func (r *Recorder) answered(p *peer, slot int32, q *request) {
	r.message(r.Clock(), EventAnswered, refusedUnless(q.code == Success), p, 0, 0, 0, q.xferLen, handleOf(slot, q.generation))
}

func refusedUnless(done bool) EventFlags {
	if done {
		return 0
	}
	return EventRefused
}
