package endpoint

import "errors"

// Fate is what has become of a request that was given up.
type Fate uint8

// The fates.
const (
	Ended     Fate = iota // it was complete, and is collected
	TakenBack             // nothing has come for it, nor will: its memory is the caller's
	InUse                 // it goes on without anybody who waits, and uses its memory until it is over
)

// String returns the name of the fate.
func (f Fate) String() string { return [...]string{"ended", "cancelled", "in use"}[f] }

// Abandon gives a request up whose wait has ended early. Whatever it is, the handle is stale afterwards.
func (e *Engine) Abandon(h Handle, st *Status) (Fate, error) {
	if done, err := e.Test(h, st); done || err != nil {
		return Ended, err
	}
	if gone, err := e.Cancel(h); gone || err != nil && !errors.Is(err, ErrCancelSend) {
		return TakenBack, err
	}
	return InUse, e.Forget(h)
}
