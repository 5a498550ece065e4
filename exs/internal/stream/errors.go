package stream

import "errors"

var (
	// ErrShut: the sender was shut down.
	ErrShut = errors.New("stream: shut down")
	// ErrReset: the connection is dead.
	ErrReset = errors.New("stream: reset")
	// ErrNoPeek: without a buffer there is nothing to peek at.
	ErrNoPeek = errors.New("stream: no buffer to peek into")
	// ErrProtocol: the peer, or the caller on its behalf, broke the protocol. The
	// connection has to be reset.
	ErrProtocol = errors.New("stream: protocol broken")
)

// breach is an ErrProtocol that says what was wrong. Its values are made once.
type breach struct{ what string }

// Error says what the peer did.
func (b *breach) Error() string { return "stream: " + b.what }

// Unwrap makes it an ErrProtocol.
func (b *breach) Unwrap() error { return ErrProtocol }

var (
	errMessage    = &breach{"malformed control message"}
	errEnd        = &breach{"control message for the other end"}
	errOverrun    = &breach{"more indirect bytes than the window allows"}
	errEmpty      = &breach{"data message without data"}
	errUsed       = &breach{"impossible count of adverts used"}
	errNotOffered = &breach{"direct message for no advert"}
	errTooLong    = &breach{"direct message longer than its advert"}
	errVoid       = &breach{"use of an advert that was given up"}
	errSkipped    = &breach{"advert passed over"}
	errAfterEnd   = &breach{"message after the end"}
	errPosition   = &breach{"end at another position"}
	errAnswer     = &breach{"answer to no withdrawal"}
	errTicket     = &breach{"fetch of another ticket"}
	errCredits    = &breach{"more adverts than credits"}
	errAdvert     = &breach{"impossible advert"}
	errWindow     = &breach{"impossible window"}
)
