package mx

import (
	"context"
	"errors"
	"sync"
)

// abroad are the calls of a context that wait at others of its endpoint, which its Wakeup ends.
type abroad struct {
	mu    sync.Mutex
	calls map[*context.CancelCauseFunc]struct{}
}

// errWoken ends the context of a call that is woken up.
var errWoken = errors.New("woken up")

// enter begins a call. It returns the context that ends with ctx, or by wake, and how to end the call.
func (a *abroad) enter(ctx context.Context) (inner context.Context, leave func()) {
	if ctx == nil {
		ctx = context.Background()
	}
	inner, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[*context.CancelCauseFunc]struct{}{}
	}
	a.calls[&cancel] = struct{}{}
	return inner, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.calls, &cancel)
		cancel(nil)
	}
}

// wake ends the calls of the moment.
func (a *abroad) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for cancel := range a.calls {
		(*cancel)(errWoken)
	}
}
