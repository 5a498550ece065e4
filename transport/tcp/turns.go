//go:build linux

package tcp

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// A handshake costs each side some of its processor's time, with TLS about a millisecond, and must be over in seconds. Where many endpoints of a
// process dial at once, their dials take turns: of more handshakes than get done in time the work would be thrown away, and begun again. A dial
// whose peer keeps it waiting gives its turn on, and goes on; soon if nothing answers at all, since hosts that are down may be many.
const (
	turnsEach   = 4 // dials at once, for each processor
	turnUnheard = 5 * time.Millisecond
	turnTime    = 50 * time.Millisecond // from when the peer's host has answered
	turnTLS     = 4 * turnTime
)

var turns = make(chan struct{}, turnsEach*runtime.NumCPU())

// turn is that of one dial.
type turn struct {
	keeps    time.Duration
	giveBack func()
	timer    *time.Timer
}

// takeTurn waits for a turn. Error: that of ctx.
func takeTurn(ctx context.Context, secure bool) (*turn, error) {
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	t := &turn{turnTime, sync.OnceFunc(func() { <-turns }), nil}
	if secure {
		t.keeps = turnTLS
	}
	t.timer = time.AfterFunc(turnUnheard, t.giveBack)
	return t, nil
}

// heard notes that a host has answered.
func (t *turn) heard() {
	if t.timer.Stop() { // else the turn has gone on
		t.timer.Reset(t.keeps)
	}
}

// end ends the dial.
func (t *turn) end() {
	t.timer.Stop()
	t.giveBack()
}
