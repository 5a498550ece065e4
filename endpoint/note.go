package endpoint

// NoteKind is the kind of a rare event that concerns a peer, for logs.
type NoteKind uint8

// The kinds of notes.
const (
	Connected    NoteKind = iota // a session has begun
	SessionEnded                 // a session has ended, with a code
	Broken                       // a link has broken, and the session waits for another one
	Resumed                      // the session goes on over another link
	RefusedPeer                  // a connect with a wrong filter was refused
	BackPressure                 // a send waits for credit, and no send did before
	FellBack                     // a direct copy failed, and the message goes on with the pipelined rendezvous
	TurnedDown                   // a connect was refused by the program, or because that did not answer; the code says which
)

// Note is an event that concerns a peer.
type Note struct {
	Kind NoteKind
	Peer int32
	Code Code
}

// Observe sets the function that gets the notes. It is called from within the engine's methods and must not call back.
// Without it a note costs a comparison.
func (e *Engine) Observe(f func(Note)) { e.observer = f }

func (e *Engine) note(kind NoteKind, p *peer, code Code) {
	if e.observer != nil {
		e.observer(Note{kind, p.index, code})
	}
	if e.recorder != nil {
		e.Record(Event{Kind: EventNote, NIC: p.at.nic, Endpoint: p.at.endpoint, Name: uint16(kind)})
	}
}

// PeerAddress returns the NIC id and endpoint id of a peer.
func (e *Engine) PeerAddress(peer int32) (nic uint64, endpoint uint32) {
	at := e.peers[peer].at
	return at.nic, at.endpoint
}
