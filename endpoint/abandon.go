package endpoint

import (
	"errors"
	"fmt"
)

// Fate is what has become of a request that was given up.
type Fate uint8

// The fates.
const (
	FateEnded     Fate = iota // the request was complete, and is collected
	FateCancelled             // the request is cancelled, and its memory is the caller's
	FateInUse                 // the operation goes on, and uses its memory until it ends; nobody is told of that
)

// String returns the name of the fate.
func (f Fate) String() string {
	names := [...]string{"ended", "cancelled", "in use"}
	if int(f) >= len(names) {
		return fmt.Sprintf("fate %d", uint8(f))
	}
	return names[f]
}

// Abandon gives up a request whose wait has ended early. The handle is stale afterwards, whatever the fate.
func (e *Engine) Abandon(h Handle, st *Status) (Fate, error) {
	if done, err := e.Test(h, st); done || err != nil {
		return FateEnded, err
	}
	if gone, err := e.Cancel(h); gone || err != nil && !errors.Is(err, ErrCancelSend) {
		return FateCancelled, err
	}
	return FateInUse, e.Forget(h)
}
