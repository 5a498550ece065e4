// Package labels names the library's goroutines in profiles, for runtime/pprof. Labels are set when a goroutine starts, and
// cost nothing afterwards.
package labels

import (
	"context"
	"runtime/pprof"
	"strconv"
)

// Key is the label that all goroutines of the library have; its value says what they are there for.
const Key = "gomx"

// Labels are those of one goroutine or of several with the same duty.
type Labels struct{ ctx context.Context }

// For returns the labels of a duty, and of what else there is to say: keys and values in turn. The context is not the
// caller's: what the library does in a goroutine of its own is not part of what the program did when it was started.
func For(duty string, more ...string) Labels {
	return Labels{pprof.WithLabels(context.Background(), pprof.Labels(append([]string{Key, duty}, more...)...))}
}

// ForEndpoint returns the labels of a duty for an endpoint, whose id they have.
func ForEndpoint(duty string, id uint32) Labels {
	return For(duty, "endpoint", strconv.FormatUint(uint64(id), 10))
}

// Set gives the labels to the goroutine that calls it. Goroutines that it starts inherit them.
func (l Labels) Set() { pprof.SetGoroutineLabels(l.ctx) }

// Func returns f, to be started as a goroutine that has the labels.
func (l Labels) Func(f func()) func() {
	return func() {
		l.Set()
		f()
	}
}
