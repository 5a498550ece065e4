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
// whose peer keeps it waiting gives its turn on, and goes on.
const (
	turnsEach = 4 // dials at once, for each processor
	turnTime  = 50 * time.Millisecond
	turnTLS   = 4 * turnTime
)

var turns = make(chan struct{}, turnsEach*runtime.NumCPU())

// takeTurn waits for a turn, and returns how to give it back. Error: that of ctx.
func takeTurn(ctx context.Context, secure bool) (giveBack func(), err error) {
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	keeps := turnTime
	if secure {
		keeps = turnTLS
	}
	once := sync.OnceFunc(func() { <-turns })
	timer := time.AfterFunc(keeps, once)
	return func() {
		timer.Stop()
		once()
	}, nil
}
