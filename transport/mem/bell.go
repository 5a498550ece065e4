package mem

import (
	"fmt"
	"sync/atomic"
	"time"

	"gomx/transport"
)

// bell is a Doorbell for endpoints whose peers are all in this process.
type bell struct {
	armed  atomic.Bool
	closed atomic.Bool
	rung   chan struct{} // holds one token
	alarm  *time.Timer   // the sleeper's, reused
}

// NewBell makes a doorbell that works within the process. It has no file
// descriptor.
func NewBell() transport.Doorbell {
	b := &bell{rung: make(chan struct{}, 1), alarm: time.NewTimer(time.Hour)}
	b.alarm.Stop()
	return b
}

// Arm throws an old token away: who arms looks again before sleeping.
func (b *bell) Arm(bool) {
	select {
	case <-b.rung:
	default:
	}
	b.armed.Store(true)
}

func (b *bell) Disarm() { b.armed.Store(false) }

func (b *bell) Sleep(d time.Duration) {
	switch {
	case d == 0 || b.closed.Load():
	case d < 0:
		<-b.rung
	default:
		b.alarm.Reset(d)
		select {
		case <-b.rung:
			b.alarm.Stop()
		case <-b.alarm.C:
		}
	}
}

// Pend is Sleep, which blocks no thread here.
func (b *bell) Pend(d time.Duration) { b.Sleep(d) }

// Yield does nothing: the peers are goroutines.
func (b *bell) Yield() {}

func (b *bell) Fence() bool { return false }

func (b *bell) Ring() {
	if b.armed.Load() {
		b.leaveToken()
	}
}

// Soon takes longer where the process rests otherwise, as Go's timers do. No transport that asks for it has this bell.
func (b *bell) Soon(f func()) { time.AfterFunc(transport.SoonIs, f) }

func (b *bell) leaveToken() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

func (b *bell) FD() (int, error) {
	return -1, fmt.Errorf("mem: doorbell without file descriptor: %w", transport.ErrUnsupported)
}

func (b *bell) Watch(int) error {
	return fmt.Errorf("mem: doorbell without file descriptor: %w", transport.ErrUnsupported)
}

func (b *bell) Drain() {}

// Close wakes the sleeper; Sleep no longer blocks.
func (b *bell) Close() {
	b.closed.Store(true)
	b.leaveToken()
}
