package endpoint

// NoteKind says what has happened to a peer that its owner may want to tell people.
type NoteKind uint8

// The kinds of notes.
const (
	Connected    NoteKind = iota // a session has begun
	SessionEnded                 // a session has ended, with a code
	Broken                       // a link has broken, and the session waits for another one
	Resumed                      // the session goes on over another link
	RefusedPeer                  // a connect with a wrong filter was refused
	BackPressure                 // a send waits for credit, and none did before
	FellBack                     // a direct copy failed, and the message goes on with the pipelined rendezvous
)

// Note says what has happened to a peer.
type Note struct {
	Kind NoteKind
	Peer int32
	Code Code
}

// Observe has f told what happens to peers, from within the engine's own methods; f must not call back. Without it, notes
// cost a comparison where something rare happens, and nothing elsewhere.
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
