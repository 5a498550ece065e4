package ring

import "gomx/transport/wire"

// Forward moves both ends of an empty ring to the beginning of a generation of slots, as if they
// had come that far.
func Forward(w *Writer, r *Reader, generation uint64) {
	at := generation << generationShift
	w.next, w.limit = at, at+Slots
	r.next, r.published = at, at
	publish(r.position, at)
}

// The steps of a Send that finds no room, so that tests can put the reader's between them.
func (w *Writer) Look(slots uint64) bool { return w.refresh(slots) }
func (w *Writer) Want(slots uint64) bool { return w.want(slots) }

// Next is Look and Read: the next frame, or none.
func (r *Reader) Next() (h *wire.Header, payload []byte, ok bool) {
	word0, there := r.Look()
	if !there {
		return nil, nil, true
	}
	return r.Read(word0)
}
